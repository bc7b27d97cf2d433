// Audit events as a table: of all accounts, or of one.

import { Link } from 'wouter-preact';
import type { AuditEventRecord } from '../../../records/operator-lists.ts';
import { t } from '../../text/t.ts';
import { Empty } from '../../ui/parts.tsx';
import { useList } from '../../ui/resource.ts';
import { ListTable, NoMatch } from '../../ui/table.tsx';
import { Nothing, Time } from '../../ui/text.tsx';
import { actionWords, actorWords, detailWords } from './labels.ts';

type Query = {
  readonly account?: string;
  readonly actor?: string;
  readonly action?: string;
  readonly subject?: string;
};

export function AuditTable({
  query,
  within,
  clear,
}: {
  readonly query: Query;
  /** Shown on the page of this account. */
  readonly within?: boolean;
  readonly clear?: () => void;
}) {
  const list = useList<AuditEventRecord>('/audit', query);
  const isFiltered = !within && Object.values(query).some((value) => value !== '');
  return (
    <ListTable
      caption={t('Audit trail')}
      name="operator-audit"
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
          label: t('Action'),
          wrap: true,
          show: ({ action, detail }) => (
            <>
              <div>{actionWords(action)}</div>
              <div class="soft small">{detailWords(detail)}</div>
            </>
          ),
        },
        {
          label: t('Actor'),
          show: ({ actor, address }) => (
            <>
              <div>{actorWords(actor)}</div>
              {address !== null && <div class="soft small">{address}</div>}
            </>
          ),
        },
        {
          label: t('About'),
          show: (event) => <Subject event={event} within={within === true} />,
        },
      ]}
    />
  );
}

function Subject({
  event: { account_id, subject },
  within,
}: {
  readonly event: AuditEventRecord;
  readonly within: boolean;
}) {
  const isAccount = subject === account_id;
  return (
    <>
      {!isAccount && <code>{subject}</code>}
      {account_id !== null && !within && (
        <div>
          <Link href={`/accounts/${account_id}`}>
            <code>{account_id}</code>
          </Link>
        </div>
      )}
      {isAccount && within && <Nothing>{t('This account')}</Nothing>}
    </>
  );
}
