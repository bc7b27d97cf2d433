// The link of a request's page to the requests of its key.

import { Link } from 'wouter-preact';
import { t } from '../../text/t.ts';
import { Nothing } from '../../ui/text.tsx';

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
