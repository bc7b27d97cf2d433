// The columns of the lists of requests: of the signed-in account, and of all accounts.

import type { LogEntryRecord, RequestRecord } from '../../../dashboard/records/customer-request.ts';
import type { LoggedRequestRecord } from '../../../dashboard/records/operator-request.ts';
import { t } from '../../text/t.ts';
import { Amount } from '../../ui/amount.tsx';
import type { SelectOption } from '../../ui/field.tsx';
import { formatCount, formatDay, formatMilliseconds } from '../../ui/format.ts';
import { Link } from '../../ui/link.tsx';
import type { Column } from '../../ui/table-column.ts';
import { Nothing, Time } from '../../ui/text.tsx';
import type { Audience } from '../audience.ts';
import { OutcomeCell, ProblemNote } from './problem-view.tsx';

type Entry = LogEntryRecord & { readonly outcome: string };

const STARTED: Column<Entry> = {
  label: t('Time'),
  fit: 'whole',
  show: ({ started_at }) => <Time at={started_at} detail="clock" />,
};

const OUTCOME: Column<Entry> = {
  label: t('Outcome'),
  fit: 'whole',
  card: 'state',
  show: (row) => <OutcomeCell {...row} />,
};

/** The model that served, and the requested one if it is another. */
function modelColumn<Row extends Entry>(requestedOf: (row: Row) => string | null): Column<Row> {
  return {
    label: t('Model'),
    fit: 'name',
    show(row) {
      const requested = requestedOf(row);
      const served = row.model_served;
      return (
        <span class="nowrap">
          {served ?? requested ?? <Nothing>{t('No model')}</Nothing>}{' '}
          {requested !== null && served !== null && served !== requested && (
            <span class="soft">{t('for {model}', { model: requested })}</span>
          )}
        </span>
      );
    },
  };
}

type Noted = LogEntryRecord & { readonly cause?: string | null };

/** The days of a log, and what went wrong below a request. */
export const REQUEST_LINES = {
  group: ({ started_at }: LogEntryRecord) => formatDay(started_at),
  note: ({ problem, cause }: Noted) =>
    problem && <ProblemNote problem={problem} cause={cause ?? null} />,
};

/** What a request used. A refused one used nothing, so it has no numbers. */
function usedColumns(amountLabel: string): readonly Column<Entry>[] {
  const used = (show: (row: Entry) => ReturnType<typeof Amount> | string) => (row: Entry) =>
    row.outcome === 'refused' ? <Nothing /> : show(row);
  const column = (label: string, show: (row: Entry) => string): Column<Entry> => ({
    label,
    end: true,
    card: 'hidden',
    show: used(show),
  });
  return [
    column(t('Input'), ({ input_tokens }) => formatCount(input_tokens)),
    column(t('Output'), ({ output_tokens }) => formatCount(output_tokens)),
    column(t('Duration'), ({ duration_ms }) => formatMilliseconds(duration_ms)),
    {
      label: amountLabel,
      end: true,
      show: used(({ debited, debited_usd }) => <Amount tokens={debited} usd={debited_usd} />),
    },
  ];
}

/** Of the signed-in account. `keys` are its keys by name. */
export function ownRequestColumns(keys: readonly SelectOption[]): readonly Column<RequestRecord>[] {
  const names = new Map(keys.map(({ value, label }) => [value, label]));
  return [
    STARTED,
    OUTCOME,
    { ...modelColumn<RequestRecord>(({ model }) => model), card: 'title' },
    {
      label: t('Key'),
      show: ({ key_id }) =>
        key_id === null ? <Nothing /> : <span class="nowrap">{names.get(key_id) ?? key_id}</span>,
    },
    {
      label: t('End user'),
      card: 'hidden',
      show: ({ end_user }) => end_user || <Nothing />,
    },
    ...usedColumns(t('Spent')),
  ];
}

/** What operators see of the requests of one account, or of all. */
export function loggedRequestColumns(of: Audience): readonly Column<LoggedRequestRecord>[] {
  return [
    STARTED,
    ...(of === 'all' ? [ACCOUNT] : []),
    OUTCOME,
    modelColumn<LoggedRequestRecord>(({ model_requested }) => model_requested),
    { label: t('Upstream'), show: ({ upstream }) => upstream ?? <Nothing /> },
    {
      label: t('Key'),
      card: 'hidden',
      optional: true,
      show: ({ key_id, key_name }) =>
        key_id === null ? <Nothing /> : <span title={key_id}>{key_name ?? key_id}</span>,
    },
    ...usedColumns(t('Debited')),
  ];
}

const ACCOUNT: Column<LoggedRequestRecord> = {
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
