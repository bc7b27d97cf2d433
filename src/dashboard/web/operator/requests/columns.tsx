// The columns of request lists in the console.

import { Link } from 'wouter-preact';
import type { LoggedRequestRecord } from '../../../records/operator-request.ts';
import { t } from '../../text/t.ts';
import { stateColumn } from '../../ui/common-columns.tsx';
import { ProblemCell, StatusCell } from '../../ui/problem-view.tsx';
import { ServedModel, usedColumns } from '../../ui/request-columns.tsx';
import type { Column } from '../../ui/table.tsx';
import { Nothing, Time } from '../../ui/text.tsx';

type Row = LoggedRequestRecord;
type Columns = readonly [Column<Row>, ...Column<Row>[]];

const STARTED: Column<Row> = {
  label: t('Started'),
  show: ({ started_at }) => <Time at={started_at} detail="second" />,
};

const ACCOUNT: Column<Row> = {
  label: t('Account'),
  show: ({ account_id, account_email }) =>
    account_id === null ? (
      <Nothing>{t('No account')}</Nothing>
    ) : (
      <Link href={`/accounts/${account_id}`} title={account_id}>
        {account_email ?? account_id}
      </Link>
    ),
};

const REST: readonly Column<Row>[] = [
  stateColumn(t('Outcome'), 'outcome'),
  {
    label: t('Model'),
    show: ({ model_requested, model_served }) => (
      <ServedModel requested={model_requested} served={model_served} />
    ),
  },
  { label: t('Upstream'), show: ({ upstream }) => upstream ?? <Nothing /> },
  { label: t('Status'), show: (row) => <StatusCell {...row} /> },
  {
    label: t('Problem'),
    wrap: true,
    show: ({ problem, cause }) => <ProblemCell problem={problem} cause={cause} />,
  },
  {
    label: t('Key'),
    card: 'hidden',
    show: ({ key_id, key_name }) =>
      key_id === null ? <Nothing /> : <span title={key_id}>{key_name ?? key_id}</span>,
  },
  ...usedColumns<Row>(t('Debited')),
];

export const LOG_COLUMNS: Columns = [STARTED, ACCOUNT, ...REST];

/** Of a page that is about one account. */
export const ACCOUNT_REQUEST_COLUMNS: Columns = [STARTED, ...REST];
