// Finds the months of accounts that may be archived: those that ended long enough ago, oldest first.
// Read-only.

import { asc, eq, gt, sql } from 'drizzle-orm';
import { DAY_MS } from '../../core/calendar.ts';
import { archivedMonths } from '../../store/archive-tables.ts';
import type { Database, Queries } from '../../store/contract.ts';
import { balances, movements, requests } from '../../store/money-tables.ts';
import { firstWithin, type Slice } from '../receipt-slices.ts';
import { type BooksStart, booksStart, monthOf, monthSpan } from './anchors.ts';

export type DueMonth = Slice & {
  readonly accountId: string;
  /** The account's number in the books. */
  readonly account: number;
  readonly month: string;
  /** The chain before its first receipt; absent for the beginning of the chain. */
  readonly start: BooksStart | undefined;
};

/** Accounts that have receipts beyond their archives and are not being restored, in pages. */
export async function* unarchivedAccounts({ db }: Database): AsyncGenerator<string> {
  const archived = sql`coalesce((select max(${archivedMonths.lastSequence}) from ${archivedMonths}
    where ${archivedMonths.account} = ${balances.number}), 0)`;
  const restored = sql`exists (select 1 from ${archivedMonths}
    where ${archivedMonths.account} = ${balances.number} and ${eq(archivedMonths.state, 'restoring')})`;
  for (let after = 0; ; ) {
    const page = await db
      .select({ number: balances.number, accountId: balances.accountId })
      .from(balances)
      .where(
        sql`${gt(balances.number, after)} and ${gt(balances.sequence, archived)} and not ${restored}`,
      )
      .orderBy(asc(balances.number))
      .limit(ACCOUNTS_AT_ONCE)
      .all();
    for (const { accountId } of page) yield accountId;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.number;
  }
}

const ACCOUNTS_AT_ONCE = 500;

/** Unix milliseconds: the end of the last month that is due, and the present. */
export type DueTimes = { readonly untilMs: number; readonly nowMs: number };

/** Clocks of nodes differ, and a receipt may be written after the present was read. */
const AHEAD_MS = DAY_MS;

/**
 * The next month of an account that ended at `untilMs` or before; `undefined` where none did. A
 * receipt of a clock that was a day ahead belongs to the month of its neighbours: its own may be
 * years away.
 */
export async function dueMonth(
  { db }: Database,
  accountId: string,
  { untilMs, nowMs }: DueTimes,
): Promise<DueMonth | undefined> {
  const balance = await db
    .select({ number: balances.number, sequence: balances.sequence })
    .from(balances)
    .where(eq(balances.accountId, accountId))
    .get();
  const start = await booksStart(db, accountId);
  const first = (start?.sequence ?? 0) + 1;
  if (balance === undefined || balance.sequence < first) return undefined;
  const receipts = { first, last: balance.sequence };
  const firstOf = (fromMs: number) =>
    firstWithin(db, accountId, receipts, { fromMs, untilMs: nowMs + AHEAD_MS });
  const dated = await firstOf(Number.MIN_SAFE_INTEGER);
  if (dated === undefined) return undefined;
  const at = await timeOf(db, balance.number, dated);
  if (at === undefined) return undefined;
  const month = laterMonth(monthOf(at), start?.month);
  const span = monthSpan(month);
  if (span.untilMs > untilMs) return undefined;
  const next = await firstOf(span.untilMs);
  const last = (next ?? balance.sequence + 1) - 1;
  // A clock that was set back: the receipts belong to a later month.
  if (last < first) return undefined;
  return { accountId, account: balance.number, month, first, last, start };
}

/** When a receipt was written. */
async function timeOf(db: Queries, account: number, sequence: number) {
  const request = await db
    .select({ startedAt: requests.startedAt, durationMs: requests.durationMs })
    .from(requests)
    .where(sql`${requests.account} = ${account} and ${requests.sequence} = ${sequence}`)
    .get();
  if (request !== undefined) return request.startedAt + request.durationMs;
  const movement = await db
    .select({ at: movements.at })
    .from(movements)
    .where(sql`${movements.account} = ${account} and ${movements.sequence} = ${sequence}`)
    .get();
  return movement?.at;
}

/** Months of an account are archived once and in order, even if the clock was set back. */
function laterMonth(month: string, archived: string | undefined): string {
  if (archived === undefined || month > archived) return month;
  return monthOf(monthSpan(archived).untilMs);
}
