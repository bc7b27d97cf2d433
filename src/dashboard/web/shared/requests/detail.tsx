// The page of one request: its history, or how it was refused.

import type { ComponentChildren } from 'preact';
import { t } from '../../text/t.ts';
import { LinkButton } from '../../ui/button.tsx';
import { useOpenedFrom } from '../../ui/kept-list.ts';
import { Loaded, Page } from '../../ui/parts.tsx';
import { useResource } from '../../ui/resource.ts';

type Neighbours = {
  readonly newer?: string | null | undefined;
  readonly older?: string | null | undefined;
};

/** A history may name its neighbours, for a page that was not opened from a list. */
type Found = Neighbours & { readonly object: 'request' };

export function RequestPage<History extends Found, Refused extends { readonly object: string }>({
  id,
  lead = <code>{id}</code>,
  history,
  refused,
}: {
  readonly id: string;
  readonly lead?: ComponentChildren;
  readonly history: (history: History, reload: () => unknown) => ComponentChildren;
  readonly refused: (refused: Refused) => ComponentChildren;
}) {
  const request = useResource<History | Refused>(`/requests/${encodeURIComponent(id)}`);
  const from = useOpenedFrom('/requests');
  const data = request.data.value;
  const neighbours = neighboursIn(id, from?.ids) ?? (data && isHistory(data) ? data : undefined);
  return (
    <Page
      title={t('Request')}
      back={{ href: `/requests${from?.search ?? ''}`, label: t('Requests') }}
      lead={lead}
      actions={
        <>
          {neighbours?.newer && (
            <LinkButton href={`/requests/${neighbours.newer}`}>{t('← Newer')}</LinkButton>
          )}
          {neighbours?.older && (
            <LinkButton href={`/requests/${neighbours.older}`}>{t('Older →')}</LinkButton>
          )}
        </>
      }
    >
      <Loaded resource={request} lines={8}>
        {(loaded) => (isHistory(loaded) ? history(loaded, request.reload) : refused(loaded))}
      </Loaded>
    </Page>
  );
}

function isHistory<History extends Found, Refused extends { readonly object: string }>(
  record: History | Refused,
): record is History {
  return record.object === 'request';
}

/** The next newer and the next older one of the list that the page was opened from. */
function neighboursIn(id: string, ids: readonly string[] = []): Neighbours | undefined {
  const place = ids.indexOf(id);
  return place < 0 ? undefined : { newer: ids[place - 1], older: ids[place + 1] };
}
