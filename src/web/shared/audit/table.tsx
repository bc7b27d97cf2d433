// Audit events as a table: of all accounts, of one on its page, or of the own account.

import type { AuditEventRecord } from '../../../dashboard/records/operator-lists.ts';
import { t } from '../../text/t.ts';
import { Link } from '../../ui/link.tsx';
import { Empty } from '../../ui/parts.tsx';
import { useList } from '../../ui/resource.ts';
import { type Column, ListTable, NoMatch } from '../../ui/table.tsx';
import { Nothing, Time } from '../../ui/text.tsx';
import type { Audience } from '../audience.ts';
import { actionWords, actorWords, detailWords } from './labels.ts';

type Query = Readonly<Partial<Record<'account' | 'actor' | 'action' | 'subject', string>>>;

/** The own account has no `account_id` in its events. */
type AuditRow = Omit<AuditEventRecord, 'account_id'> &
  Partial<Pick<AuditEventRecord, 'account_id'>>;

export function AuditTable({
  audience,
  query = {},
  within = false,
  clear,
}: {
  readonly audience: Audience;
  readonly query?: Query;
  /** Shown on the page of this account. */
  readonly within?: boolean;
  readonly clear?: () => void;
}) {
  const list = useList<AuditRow>('/audit', query);
  const isFiltered = !within && Object.values(query).some((value) => value !== '');
  const isOwn = audience === 'account';
  const about: Column<AuditRow> = {
    label: t('About'),
    show: (event) => <Subject event={event} within={within} />,
  };
  return (
    <ListTable
      caption={t('Audit trail')}
      name={isOwn ? 'audit' : 'operator-audit'}
      list={list}
      rowKey={({ id }) => String(id)}
      empty={
        isFiltered ? (
          <NoMatch {...(clear === undefined ? {} : { clear })} />
        ) : (
          <Empty title={t('No changes yet')}>{t('All changes appear here permanently.')}</Empty>
        )
      }
      columns={[
        { label: t('When'), show: ({ at }) => <Time at={at} detail="second" /> },
        {
          label: t('Change'),
          card: 'title',
          wrap: true,
          show: (event) => (
            <>
              <div>{actionWords(event.action)}</div>
              <div class="soft small">{detailWords(event)}</div>
            </>
          ),
        },
        {
          label: t('By'),
          show: ({ actor, address }) => (
            <>
              <div>{actorWords(actor, isOwn)}</div>
              {address && <div class="soft small">{address}</div>}
            </>
          ),
        },
        ...(isOwn ? [] : [about]),
      ]}
    />
  );
}

function Subject({
  event: { account_id: account = null, subject },
  within,
}: {
  readonly event: AuditRow;
  readonly within: boolean;
}) {
  const isAccount = subject === account;
  return (
    <>
      {!isAccount && <code>{subject}</code>}
      {account !== null && !within && (
        <div>
          <Link href={`/accounts/${account}`}>
            <code>{account}</code>
          </Link>
        </div>
      )}
      {isAccount && within && <Nothing>{t('This account')}</Nothing>}
    </>
  );
}
