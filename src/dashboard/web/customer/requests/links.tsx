// Links of a request's page: to the next requests of the list, and to the requests of its key.

import { Link } from 'wouter-preact';
import type {
  RefusedRequestRecord,
  RequestHistoryRecord,
} from '../../../records/customer-request.ts';
import { t } from '../../text/t.ts';
import { LinkButton, Nothing } from '../../ui/index.ts';

type NextIds = { readonly newer: string | null; readonly older: string | null };

/** In the list that the page was opened from; without one, among all requests that were served. */
export function neighboursOf(
  id: string,
  ids: readonly string[] | undefined,
  data: RequestHistoryRecord | RefusedRequestRecord | undefined,
): NextIds {
  const place = ids?.indexOf(id) ?? -1;
  if (ids !== undefined && place >= 0) {
    return { newer: ids[place - 1] ?? null, older: ids[place + 1] ?? null };
  }
  return data?.object === 'request' ? data : { newer: null, older: null };
}

export function Neighbours({ newer, older }: NextIds) {
  return (
    <>
      {newer !== null && <LinkButton href={`/requests/${newer}`}>{t('← Newer')}</LinkButton>}
      {older !== null && <LinkButton href={`/requests/${older}`}>{t('Older →')}</LinkButton>}
    </>
  );
}

/** The key's name, with a link to the requests of the key. */
export function KeyLink({
  id,
  name,
}: {
  readonly id: string | null;
  readonly name: string | null;
}) {
  if (id === null) return <Nothing>{t('None')}</Nothing>;
  return (
    <Link href={`/requests?key=${encodeURIComponent(id)}`} title={id}>
      {name ?? <code>{id}</code>}
    </Link>
  );
}
