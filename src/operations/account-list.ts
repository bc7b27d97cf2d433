// The console's list of accounts: filtered, in any order, with what each spent and earned in the
// last 30 days and when it was last active. Usage is as recent as the series, which lags behind the
// ledger by seconds. Read-only.

import { and, eq, gte, inArray, type SQL, sql } from 'drizzle-orm';
import { DAY_MS, isoTime } from '../core/calendar.ts';
import type { Catalog } from '../core/model.ts';
import { formatTokens, formatUsd, type Micro, ZERO } from '../core/money.ts';
import type { Database } from '../store/contract.ts';
import { pageBy, type SortedPage, type SortPlace } from '../store/keyset.ts';
import { balances, requests } from '../store/money-tables.ts';
import { usageAccounts } from '../store/series-tables.ts';
import { accounts } from '../store/tables.ts';
import {
  type AccountFilter,
  accountNumber,
  accountRecord,
  accountsOf,
  type FoundAccount,
  matchesFilter,
} from './account-records.ts';

/** The columns by which the list can be sorted. */
export const ACCOUNT_FIELDS = [
  'created',
  'email',
  'plan',
  'standing',
  'balance',
  'spent',
  'margin',
  'active',
] as const;

export type AccountField = (typeof ACCOUNT_FIELDS)[number];

type ListedAccount = FoundAccount & {
  readonly month: MonthFigures;
  /** When the last request started that reached a model; Unix milliseconds, 0 for none. */
  readonly activeAt: number;
  /** In the order that was asked for. */
  readonly place: SortPlace;
};

type MonthFigures = {
  readonly requests: number;
  readonly failed: number;
  readonly debited: Micro;
  readonly upstreamCost: Micro;
  /** Over requests whose costs are all known; the others are `uncosted`. */
  readonly margin: Micro;
  readonly uncosted: number;
};

const DAYS = 30;

const NO_USAGE: MonthFigures = {
  requests: 0,
  failed: 0,
  uncosted: 0,
  debited: ZERO,
  upstreamCost: ZERO,
  margin: ZERO,
};

/** One row more than a page shows is up to the caller. */
export async function listAccounts(
  database: Pick<Database, 'db'>,
  filter: AccountFilter,
  page: SortedPage<AccountField>,
  nowMs: number,
): Promise<readonly ListedAccount[]> {
  const ranked = await rank(database, filter, page, nowMs);
  const ids = ranked.map(({ id }) => id);
  const [found, months] = await Promise.all([
    accountsOf(database, ids, nowMs),
    readMonths(database, ids, nowMs),
  ]);
  const byId = new Map(found.map((row) => [row.account.id, row]));
  return ranked.flatMap(({ id, number, value, activeAt }) => {
    const row = byId.get(id);
    if (row === undefined) return [];
    const place = { value, tie: number };
    return [{ ...row, activeAt, month: months.get(id) ?? NO_USAGE, place }];
  });
}

/** The ids of one page in order. Sorting by usage reads the last 30 days of every match. */
async function rank(
  { db }: Pick<Database, 'db'>,
  filter: AccountFilter,
  page: SortedPage<AccountField>,
  nowMs: number,
) {
  const values = sortValues(firstDay(nowMs));
  const { where, orderBy } = pageBy(values, accountNumber, page);
  return db
    .select({
      id: accounts.id,
      number: accountNumber,
      value: sql<string | number | bigint>`${values[page.order.field]}`,
      activeAt: lastActive.mapWith(Number),
    })
    .from(accounts)
    .leftJoin(balances, eq(balances.accountId, accounts.id))
    .where(and(matchesFilter(filter, nowMs), where))
    .orderBy(...orderBy)
    .limit(page.limit)
    .all();
}

/** 0 for none. Found by the index of the account's requests. */
const lastActive = sql`coalesce((
  select max(${requests.startedAt}) from ${requests}
  where ${requests.account} = ${balances.number}), 0)`;

function sortValues(fromMs: number): Readonly<Record<AccountField, SQL>> {
  const sumOf = (column: SQL) => sql`(
    select coalesce(sum(${column}), 0) from ${usageAccounts}
    where ${usageAccounts.accountId} = ${accounts.id} and ${usageAccounts.day} >= ${fromMs})`;
  return {
    created: sql`${accountNumber}`,
    email: sql`${accounts.email}`,
    plan: sql`${accounts.plan}`,
    standing: sql`${accounts.standing}`,
    balance: sql`coalesce(${balances.posted} - ${balances.held}, 0)`,
    spent: sumOf(sql`${usageAccounts.debited}`),
    margin: sumOf(sql`${usageAccounts.margin}`),
    active: lastActive,
  };
}

async function readMonths({ db }: Pick<Database, 'db'>, ids: readonly string[], nowMs: number) {
  if (ids.length === 0) return new Map<string, MonthFigures>();
  const count = (column: SQL) => sql`sum(${column})`.mapWith(Number);
  const amount = (column: SQL) => sql`sum(${column})`.mapWith(usageAccounts.debited);
  const rows = await db
    .select({
      accountId: usageAccounts.accountId,
      requests: count(sql`${usageAccounts.requests}`),
      failed: count(sql`${usageAccounts.failed}`),
      debited: amount(sql`${usageAccounts.debited}`),
      upstreamCost: amount(sql`${usageAccounts.upstreamCost}`),
      margin: amount(sql`${usageAccounts.margin}`),
      uncosted: count(sql`${usageAccounts.uncosted}`),
    })
    .from(usageAccounts)
    .where(and(inArray(usageAccounts.accountId, [...ids]), gte(usageAccounts.day, firstDay(nowMs))))
    .groupBy(usageAccounts.accountId)
    .all();
  return new Map(rows.map(({ accountId, ...figures }) => [accountId, figures]));
}

/** UTC days, the current one included. */
function firstDay(nowMs: number): number {
  return nowMs - (nowMs % DAY_MS) - (DAYS - 1) * DAY_MS;
}

export function listedAccountRecord(row: ListedAccount, catalog: Catalog) {
  const { month, activeAt } = row;
  const usd = (amount: Micro) => formatUsd(amount, catalog.usdPerMillion);
  return {
    ...accountRecord(row, catalog),
    last_active_at: activeAt === 0 ? null : isoTime(activeAt),
    last_30_days: {
      requests: month.requests,
      failed: month.failed,
      spent: formatTokens(month.debited),
      spent_usd: usd(month.debited),
      cost: formatTokens(month.upstreamCost),
      cost_usd: usd(month.upstreamCost),
      margin: formatTokens(month.margin),
      margin_usd: usd(month.margin),
      uncosted: month.uncosted,
    },
  } as const;
}
