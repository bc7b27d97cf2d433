// The links from the page of a request to the next newer and the next older one.

import { t } from '../text/t.ts';
import { LinkButton } from './button.tsx';

type NeighboursProps = {
  readonly id: string;
  /** The list that the page was opened from. */
  readonly ids: readonly string[] | undefined;
  /** Used without such a list. */
  readonly others?: { readonly newer: string | null; readonly older: string | null } | undefined;
};

export function Neighbours({ id, ids = [], others }: NeighboursProps) {
  const place = ids.indexOf(id);
  const { newer, older } =
    place < 0 ? { ...others } : { newer: ids[place - 1], older: ids[place + 1] };
  return (
    <>
      {newer && <LinkButton href={`/requests/${newer}`}>{t('← Newer')}</LinkButton>}
      {older && <LinkButton href={`/requests/${older}`}>{t('Older →')}</LinkButton>}
    </>
  );
}
