// The links of a request to its account and to the requests of its key.

import { t } from '../../text/t.ts';
import { Link } from '../../ui/link.tsx';
import { Nothing } from '../../ui/text.tsx';
import type { Audience } from '../audience.ts';

export function AccountLink({
  id,
  email,
}: {
  readonly id: string | null;
  readonly email: string | null;
}) {
  if (id === null) return <Nothing>{t('No account')}</Nothing>;
  return (
    <>
      <Link href={`/accounts/${id}`}>{email ?? id}</Link> <code class="soft small">{id}</code>
    </>
  );
}

/** The name of a key, with a link to its requests. Operators see its id as well. */
export function KeyLink({
  audience,
  id,
  name,
}: {
  readonly audience: Audience;
  readonly id: string | null;
  readonly name: string | null;
}) {
  if (id === null) return <Nothing>{t('None')}</Nothing>;
  const href = `/requests?key=${encodeURIComponent(id)}`;
  if (audience === 'account') {
    return (
      <Link href={href} title={id}>
        {name ?? <code>{id}</code>}
      </Link>
    );
  }
  return (
    <>
      <Link href={href}>{name ?? id}</Link> {name !== null && <code class="soft small">{id}</code>}
    </>
  );
}
