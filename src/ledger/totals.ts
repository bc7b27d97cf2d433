// Reads what all accounts together have, hold and spend, for the operator's console. Read-only.

import { and, asc, count, desc, eq, gt, gte, lt, sql } from 'drizzle-orm';
import { createPause } from '../async/yield.ts';
import { DAY_MS } from '../core/calendar.ts';
import { add, type Micro, ZERO } from '../core/money.ts';
import type { Database } from '../store/contract.ts';
import { balances } from '../store/money-tables.ts';
import { holds } from '../store/money-views.ts';
import { usageHours } from '../store/series-tables.ts';
import { accounts } from '../store/tables.ts';
import { wideSum } from '../store/wide-sum.ts';
import type { Balance } from './contract.ts';

export type BalanceTotals = Pick<Balance, 'posted' | 'held'> & { readonly accounts: number };

export type AccountAmount = {
  readonly accountId: string;
  readonly email: string;
  readonly amount: Micro;
};

export type OldestHold = Awaited<
  ReturnType<ReturnType<typeof createTotals>['oldestHolds']>
>[number];

const ACCOUNTS_AT_ONCE = 200;
const STRETCH_MS = 2 * DAY_MS;

export function createTotals({ db }: Database) {
  const value = sql.placeholder;
  const all = db
    .select({
      accounts: count(),
      posted: wideSum(balances.posted),
      held: wideSum(balances.held),
    })
    .from(balances)
    .prepare();
  const oldest = db
    .select({
      requestId: holds.requestId,
      accountId: holds.accountId,
      model: holds.model,
      checkpointAt: holds.checkpointAt,
      amount: holds.amount,
      startedAt: holds.startedAt,
    })
    .from(holds)
    .orderBy(asc(holds.startedAt))
    .limit(value('limit'))
    .prepare();
  const spent = db
    .select({ amount: wideSum(usageHours.debited) })
    .from(usageHours)
    .where(
      and(
        eq(usageHours.accountId, value('accountId')),
        gte(usageHours.hour, value('fromMs')),
        lt(usageHours.hour, value('untilMs')),
      ),
    )
    .prepare();
  const page = db
    .select({ accountId: accounts.id, email: accounts.email })
    .from(accounts)
    .where(gt(accounts.id, value('after')))
    .orderBy(asc(accounts.id))
    .limit(ACCOUNTS_AT_ONCE)
    .prepare();
  const largest = db
    .select({ accountId: accounts.id, email: accounts.email, amount: balances.posted })
    .from(balances)
    .innerJoin(accounts, eq(accounts.id, balances.accountId))
    .orderBy(desc(balances.posted))
    .limit(value('limit'))
    .prepare();
  return {
    /** Reads the balance of every account, so not for every second. */
    balances: async (): Promise<BalanceTotals> =>
      (await all.get()) ?? { accounts: 0, posted: ZERO, held: ZERO },
    /** The oldest open holds. */
    oldestHolds: (limit: number) => oldest.all({ limit }),
    /** The accounts that spent most in the whole hours of a span, as far as they are rolled up. */
    async spenders(
      fromMs: number,
      untilMs: number,
      limit: number,
    ): Promise<readonly AccountAmount[]> {
      const pause = createPause();
      let most: AccountAmount[] = [];
      let rows = await page.all({ after: '' });
      while (rows.length > 0) {
        for (const account of rows) {
          let sum = ZERO;
          // Reads in stretches: one account may have made half of all requests.
          for (let at = fromMs; at < untilMs; at += STRETCH_MS) {
            const stretch = { fromMs: at, untilMs: Math.min(at + STRETCH_MS, untilMs) };
            const found = await spent.get({ accountId: account.accountId, ...stretch });
            sum = add(sum, found?.amount ?? ZERO);
            await pause();
          }
          if (sum > 0n) most.push({ ...account, amount: sum });
        }
        most = most.toSorted((a, b) => (a.amount > b.amount ? -1 : 1)).slice(0, limit);
        rows = await page.all({ after: rows.at(-1)?.accountId ?? '' });
      }
      return most;
    },
    largestBalances: (limit: number): Promise<readonly AccountAmount[]> => largest.all({ limit }),
  };
}
