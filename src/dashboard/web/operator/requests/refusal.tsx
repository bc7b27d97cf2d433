// A refused request in the console, and the links of a request to its account and key.

import { Link } from 'wouter-preact';
import type { OperatorRefusalRecord } from '../../../records/operator-request.ts';
import { RefusedRequest } from '../../shared/requests/problem-view.tsx';
import { t } from '../../text/t.ts';
import { formatCount } from '../../ui/format.ts';
import { Nothing, Time } from '../../ui/text.tsx';

export function RefusalView({ refusal }: { readonly refusal: OperatorRefusalRecord }) {
  const { problem, account_id: account, key_id: key } = refusal;
  return (
    <RefusedRequest
      problem={problem}
      note={t('The request reached no upstream.')}
      facts={[
        [t('Equal requests'), formatCount(refusal.count)],
        [
          t('Account'),
          account === null ? (
            <Nothing>{t('No account')}</Nothing>
          ) : (
            <AccountLink id={account} email={refusal.account_email} />
          ),
        ],
        [
          t('Key'),
          key === null ? (
            <Nothing>{t('None')}</Nothing>
          ) : (
            <KeyName id={key} name={refusal.key_name} />
          ),
        ],
        [t('Model'), refusal.model ?? <Nothing>{t('None')}</Nothing>],
        [t('Route'), <code key="route">{refusal.route}</code>],
        [t('First'), <Time key="first" at={refusal.started_at} detail="second" />],
        [t('Last'), <Time key="last" at={refusal.last_at} detail="second" />],
      ]}
    />
  );
}

export function AccountLink({ id, email }: { readonly id: string; readonly email: string | null }) {
  return (
    <>
      <Link href={`/accounts/${id}`}>{email ?? id}</Link> <code class="soft small">{id}</code>
    </>
  );
}

/** The name of a key, with a link to its requests. */
export function KeyName({ id, name }: { readonly id: string; readonly name: string | null }) {
  return (
    <>
      <Link href={`/requests?key=${encodeURIComponent(id)}`}>{name ?? id}</Link>{' '}
      {name !== null && <code class="soft small">{id}</code>}
    </>
  );
}
