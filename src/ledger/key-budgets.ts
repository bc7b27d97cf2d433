// The budgets of keys in the ledger: sets them, reserves of them, and counts what their keys spend.
// Called by `commands.ts` and `end-hold.ts`. Accounts without a budget skip all of it.

import { type SQL, sql } from 'drizzle-orm';
import { utcDay, utcMonth } from '../core/calendar.ts';
import {
  addSpend,
  BUDGET_PERIODS,
  type BudgetLimits,
  type BudgetSpend,
  budgetRest,
  NO_LIMITS,
  spendAt,
} from '../core/key-budget.ts';
import {
  add,
  formatTokens,
  larger,
  type Micro,
  micro,
  smaller,
  subtract,
  ZERO,
} from '../core/money.ts';
import { hiddenOutput } from '../core/price.ts';
import type { Database } from '../store/contract.ts';
import { unindexedNumber } from '../store/portable.ts';
import { accountOf, type LedgerBatch } from './batch.ts';
import type {
  BudgetCommand,
  BudgetResult,
  BudgetRoom,
  HoldCommand,
  LedgerRequest,
} from './contract.ts';
import type { AccountBooks, KeyBudgetRow, Memory, OpenHold, OpenHoldRow } from './memory.ts';
import type { Names } from './names.ts';

/** A budget that refuses a hold, or what the hold reserves of it. */
type Reservation =
  | { readonly kind: 'refused'; readonly room: BudgetRoom }
  | { readonly kind: 'reserved'; readonly amount: Micro };

/** A family whose budget is not cached. */
export type UnreadBudget = { readonly account: AccountBooks; readonly family: number };

/** The family of a key that was never replaced is its own number. */
export function familyOf({ family, key }: Pick<OpenHoldRow, 'family' | 'key'>): number {
  return family ?? key;
}

/**
 * What a hold or a new limit needs to have read first. The budgets of open holds are read with
 * their account.
 */
export function unreadBudget(
  { name, command }: LedgerRequest,
  memory: Memory,
  names: Names,
): UnreadBudget | undefined {
  if (name !== 'hold' && name !== 'budget') return undefined;
  const account = memory.accounts.get(command.accountId);
  if (account === undefined || account.budgetCount === 0) return undefined;
  const family = names.numberOf(command.family ?? command.keyId);
  return account.budgets.has(family) ? undefined : { account, family };
}

/**
 * What a hold reserves of its key's budget: the most that the request can cost. Output above the
 * first slice is reserved as far as balance and budget allow, and the request's output bound is
 * lowered to that. Undefined for a key without a budget.
 */
export function reserve(
  account: AccountBooks,
  family: number,
  command: HoldCommand,
  left: Micro,
): Reservation | undefined {
  const room = roomFor(account, family, command.nowMs, undefined);
  if (room === undefined) return undefined;
  const { amount, excess = ZERO, promptTokens, outputBound, price } = command;
  const least = add(amount, excess);
  if (least > room.room) return { kind: 'refused', room };
  const more = smaller(hiddenOutput(promptTokens, outputBound, price), left);
  return { kind: 'reserved', amount: smaller(room.room, add(least, more)) };
}

/** What an extended hold reserves. A reservation that covers it stays as it is. */
export function reserveMore(open: OpenHold, worst: Micro): Reservation | undefined {
  const { account, row } = open;
  const { budgeted } = row;
  if (budgeted === null || worst <= budgeted) return undefined;
  const room = roomFor(account, familyOf(row), row.startedAt, open);
  if (room !== undefined && worst > room.room) return { kind: 'refused', room };
  return { kind: 'reserved', amount: worst };
}

/**
 * The most that the budget of a hold's key pays for it: what the hold has reserved, and what nothing
 * else has. Undefined for a key without a budget.
 */
export function budgetPays(open: OpenHold, nowMs: number): Micro | undefined {
  const { account, row } = open;
  const room = roomFor(account, familyOf(row), nowMs, open);
  return room && larger(row.budgeted ?? row.worst, room.room);
}

/** What the budget of a family leaves beside its open holds, without `but`. */
function roomFor(
  { budgets, holds }: AccountBooks,
  family: number,
  nowMs: number,
  but: OpenHold | undefined,
): BudgetRoom | undefined {
  const budget = budgets.get(family);
  if (budget === undefined) return undefined;
  const least = budgetRest(limitsOf(budget), spendOf(budget), nowMs);
  // A family without a limit still reserves: a limit may be set while its requests are running.
  const { period, rest } = least ?? { period: 'total', rest: micro(10n ** 18n) };
  let reserved = ZERO;
  let openHolds = 0;
  for (const hold of holds.values()) {
    if (hold === but || familyOf(hold.row) !== family) continue;
    reserved = add(reserved, hold.row.budgeted ?? hold.row.worst);
    openHolds += 1;
  }
  return { period, rest, room: subtract(rest, reserved), openHolds };
}

/** Counts a charge against the budget of its key. */
export function spend(
  { changes }: LedgerBatch,
  { account, row }: OpenHold,
  debited: Micro,
  nowMs: number,
): void {
  const family = familyOf(row);
  const budget = account.budgets.get(family);
  if (budget === undefined || debited === 0n) return;
  const spent = { ...budget, ...spendRow(addSpend(spendOf(budget), debited, nowMs)) };
  account.budgets.set(family, spent);
  changes.budgets.set(family, spent);
}

/** Sets the limits of a family. Its first budget starts with what its keys have spent before. */
export function setBudget(batch: LedgerBatch, command: BudgetCommand): BudgetResult {
  const { changes, facts, names } = batch;
  const { nowMs } = command;
  const account = accountOf(batch, command.accountId);
  const family = names.numberOf(command.family);
  const before = account.budgets.get(family);
  const spent = before === undefined ? facts.spentBefore.get(command.family) : spendOf(before);
  const limits = { ...(before === undefined ? NO_LIMITS : limitsOf(before)), ...command.limits };
  const asOf = spendAt(spent ?? noSpend(nowMs), nowMs);
  const isChanged = BUDGET_PERIODS.some(
    (period) => limits[period] !== (before === undefined ? null : limitsOf(before)[period]),
  );
  if (!isChanged) return { limits, spend: asOf };
  const row: KeyBudgetRow = {
    account: account.number,
    family,
    limitTotal: limits.total,
    limitDay: limits.day,
    limitMonth: limits.month,
    ...spendRow(asOf),
  };
  account.budgets.set(family, row);
  changes.budgets.set(family, row);
  // Also marks the cached books of other nodes as outdated.
  changes.accounts.add(account);
  if (before === undefined) {
    account.budgetCount += 1;
    adoptHolds(batch, account, family);
  }
  if (command.by !== undefined) {
    changes.events.push({
      ...command.by,
      at: nowMs,
      action: 'api_key.budget_set',
      accountId: account.id,
      subject: command.keyId,
      detail: JSON.stringify({
        from: before === undefined ? null : written(limitsOf(before)),
        to: written(limits),
      }),
    });
  }
  return { limits, spend: asOf };
}

/** Requests that are running when the first budget is set count against it too. */
function adoptHolds({ changes }: LedgerBatch, account: AccountBooks, family: number): void {
  for (const hold of account.holds.values()) {
    const { row } = hold;
    if (familyOf(row) !== family || row.budgeted !== null) continue;
    account.put(hold, { ...row, budgeted: larger(row.worst, row.amount) });
    changes.change(hold);
  }
}

function written(limits: BudgetLimits): Readonly<Record<string, string | null>> {
  return Object.fromEntries(
    Object.entries(limits).map(([period, limit]) => [
      period,
      limit === null ? null : formatTokens(limit),
    ]),
  );
}

export function limitsOf(row: KeyBudgetRow): BudgetLimits {
  return { total: row.limitTotal, day: row.limitDay, month: row.limitMonth };
}

export function spendOf(row: KeyBudgetRow): BudgetSpend {
  const { spentTotal: total, day, spentDay: inDay, month, spentMonth: inMonth } = row;
  return { total, day, inDay, month, inMonth };
}

function spendRow({ total, day, inDay, month, inMonth }: BudgetSpend) {
  return { spentTotal: total, day, spentDay: inDay, month, spentMonth: inMonth };
}

function noSpend(nowMs: number): BudgetSpend {
  const day = utcDay(nowMs).fromMs;
  const month = utcMonth(nowMs).fromMs;
  return { total: ZERO, day, inDay: ZERO, month, inMonth: ZERO };
}

/** Whether the command sets the first limit of a family, which then needs `spentBefore`. */
export function startsBudget(
  { accountId, family, limits }: BudgetCommand,
  memory: Memory,
  names: Names,
): boolean {
  // A client may repeat an edit that changes nothing, and the history of an account may be long.
  const isLimited = BUDGET_PERIODS.some((period) => (limits[period] ?? null) !== null);
  return isLimited && !memory.hasBudget(accountId, names.numberOf(family));
}

/**
 * What the keys of a family have spent so far, in one statement: usage may be rolled up at any
 * time. Call it inside the transaction that creates the budget. Requests count for the UTC day in
 * which they started, as on the usage page.
 */
export async function spentBefore(
  { rows }: Pick<Database, 'rows'>,
  { accountId, family, nowMs }: BudgetCommand,
): Promise<BudgetSpend> {
  const { day, month } = noSpend(nowMs);
  const since = (fromMs: number): SQL =>
    sql`cast(coalesce(sum(case when at >= ${fromMs} then debited else 0 end), 0) as bigint)`;
  // Of the account, because no index has the family.
  const successors = sql`select id from api_keys
    where account_id = ${accountId} and family = ${family}`;
  const [found] = await rows<Readonly<Record<'total' | 'in_day' | 'in_month', bigint>>>(
    sql`select ${since(0)} as total, ${since(day)} as in_day, ${since(month)} as in_month from (
      select d.day as at, d.debited as debited from usage_days d
        where d.account_id = ${accountId}
          and (d.key_id = ${family}
            or d.key_id in (${successors}))
      union all
      select r.started_at, r.charged - r.loss from requests r
        where r.number > (select last_record from usage_mark)
          and ${unindexedNumber(sql`r.account`)} =
            (select number from balances where account_id = ${accountId})
          and r.key in (select t.number from texts t where t.text = ${family}
            or t.text in (${successors}))) as spent`,
  );
  return {
    total: micro(BigInt(found?.total ?? 0n)),
    day,
    inDay: micro(BigInt(found?.in_day ?? 0n)),
    month,
    inMonth: micro(BigInt(found?.in_month ?? 0n)),
  };
}
