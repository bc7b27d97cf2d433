// Columns that many tables have.

import { t } from '../text/t.ts';
import { Amount } from './amount.tsx';
import { formatCount } from './format.ts';
import type { Column } from './table-column.ts';
import { StateBadge, Time } from './text.tsx';

type TimeOptions = Pick<Column<never>, 'card' | 'sort'> &
  Pick<Parameters<typeof Time>[0], 'relative' | 'detail'>;

type AmountOptions<Usd> = Pick<Column<never>, 'card' | 'sort'> &
  Pick<Parameters<typeof Amount>[0], 'detail'> & { readonly usd?: Usd };

export function timeColumn<Field extends string>(
  label: string,
  field: Field,
  { relative, detail, ...column }: TimeOptions = {},
): Column<Readonly<Record<Field, string | null>>> {
  return {
    label,
    card: 'labelled',
    show: ({ [field]: at }) => <Time at={at} relative={relative} detail={detail} />,
    ...column,
  };
}

/** `tokens` and `usd` are the fields of the amount. */
export function amountColumn<Tokens extends string, Usd extends string = never>(
  label: string,
  tokens: Tokens,
  { usd, detail, ...column }: AmountOptions<Usd> = {},
): Column<Readonly<Record<Tokens, string | null> & Record<NoInfer<Usd>, string>>> {
  return {
    label,
    end: true,
    show: (row) => <Amount tokens={row[tokens]} usd={usd && row[usd]} detail={detail} />,
    ...column,
  };
}

type LedgerEntry = { readonly amount: string; readonly balance: string };

/** Amount and balance of a ledger's entries: the balance before plus the amount is the one after. */
export function ledgerColumns(): readonly Column<LedgerEntry>[] {
  return [
    {
      label: t('Amount'),
      end: true,
      card: 'value',
      show: ({ amount, balance }) => <Amount tokens={amount} after={balance} />,
    },
    amountColumn(t('Balance'), 'balance', { detail: 'ledger' }),
  ];
}

export function countColumn<Field extends string>(
  label: string,
  field: Field,
  more: Partial<Column<Readonly<Record<Field, number>>>> = {},
): Column<Readonly<Record<Field, number>>> {
  return { label, end: true, show: ({ [field]: count }) => formatCount(count), ...more };
}

/** A number of the row, by which the table is sorted. */
export function numberColumn<Row>(
  label: string,
  read: (row: Row) => number,
  more: Partial<Column<Row>> = {},
): Column<Row> {
  return { label, end: true, show: (row) => formatCount(read(row)), sortBy: read, ...more };
}

/** An amount in USD. */
export function usdColumn<Row>(
  label: string,
  read: (row: Row) => string,
  more: Partial<Column<Row>> = {},
): Column<Row> {
  return { label, end: true, show: (row) => <Amount usd={read(row)} />, ...more };
}

export function stateColumn<Field extends string>(
  label: string,
  field: Field,
): Column<Readonly<Record<Field, string>>> {
  return { label, card: 'state', show: ({ [field]: state }) => <StateBadge state={state} /> };
}
