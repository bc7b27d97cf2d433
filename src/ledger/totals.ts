// What all accounts together have, hold and spend, for the operator's console. It only reads.

import { and, asc, count, desc, eq, gte, isNull, lt, sql } from 'drizzle-orm';
import type { Micro } from '../core/money.ts';
import type { Database } from '../store/database.ts';
import { balances, holds } from '../store/money-tables.ts';
import { usageHours } from '../store/series-tables.ts';
import { accounts } from '../store/tables.ts';

export type BalanceTotals = {
  readonly accounts: number;
  readonly posted: Micro;
  readonly held: Micro;
};

export type OldHold = {
  readonly requestId: string;
  readonly accountId: string;
  readonly model: string;
  readonly phase: string;
  readonly amount: Micro;
  readonly createdAt: number;
};

export type AccountAmount = {
  readonly accountId: string;
  readonly email: string;
  readonly amount: Micro;
};

export type Totals = {
  /** Reads the balance of every account: not for every second. */
  readonly balances: () => BalanceTotals;
  /** The open holds that are the oldest. */
  readonly oldestHolds: (limit: number) => readonly OldHold[];
  /** Who has spent the most in the whole hours of a span, as far as they have been added up. */
  readonly spenders: (fromMs: number, untilMs: number, limit: number) => readonly AccountAmount[];
  readonly largestBalances: (limit: number) => readonly AccountAmount[];
};

export function createTotals({ db }: Database): Totals {
  const value = sql.placeholder;
  const amount = (expression: ReturnType<typeof sql>) => expression.mapWith(BigInt);
  const all = db
    .select({
      accounts: count(),
      posted: amount(sql`coalesce(sum(${balances.posted}), 0)`),
      held: amount(sql`coalesce(sum(${balances.held}), 0)`),
    })
    .from(balances)
    .prepare();
  const oldest = db
    .select({
      requestId: holds.requestId,
      accountId: holds.accountId,
      model: holds.model,
      phase: holds.phase,
      amount: holds.amount,
      createdAt: holds.createdAt,
    })
    .from(holds)
    .where(isNull(holds.endedAt))
    .orderBy(asc(holds.createdAt))
    .limit(value('limit'))
    .prepare();
  const spent = amount(sql`sum(${usageHours.debited})`).as('spent');
  const spenders = db
    .select({ accountId: usageHours.accountId, email: accounts.email, amount: spent })
    .from(usageHours)
    .innerJoin(accounts, eq(accounts.id, usageHours.accountId))
    .where(and(gte(usageHours.hour, value('fromMs')), lt(usageHours.hour, value('untilMs'))))
    .groupBy(usageHours.accountId)
    .orderBy(desc(spent))
    .limit(value('limit'))
    .prepare();
  const largest = db
    .select({ accountId: accounts.id, email: accounts.email, amount: balances.posted })
    .from(balances)
    .innerJoin(accounts, eq(accounts.id, balances.accountId))
    .orderBy(desc(balances.posted))
    .limit(value('limit'))
    .prepare();
  return {
    balances: () => all.get() ?? { accounts: 0, posted: 0n, held: 0n },
    oldestHolds: (limit) => oldest.all({ limit }),
    spenders: (fromMs, untilMs, limit) => spenders.all({ fromMs, untilMs, limit }),
    largestBalances: (limit) => largest.all({ limit }),
  };
}
