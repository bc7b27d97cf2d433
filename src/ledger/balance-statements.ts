// The statements over `balances`, and nothing else. Each is a guarded update of one row: it answers
// with what the row says then, or with `undefined` when its condition did not hold.

import { and, eq, sql } from 'drizzle-orm';
import { andThen } from '../core/awaitable.ts';
import { AMOUNT_MAX, type Micro } from '../core/money.ts';
import type { Database } from '../store/database.ts';
import { balances } from '../store/money-tables.ts';
import type { Balance } from './contract.ts';
import { LedgerRefusal } from './error.ts';

type Change = { readonly posted: Micro; readonly available: Micro };

export function prepareBalanceStatements(database: Database) {
  const value = sql.placeholder;
  const available = sql<bigint>`${balances.posted} - ${balances.held}`;
  const ofAccount = eq(balances.accountId, value('accountId'));

  const reserve = database.prepare<{ accountId: string; amount: Micro }, [Micro]>(
    database.db
      .update(balances)
      .set({ held: sql`${balances.held} + ${value('amount')}` })
      .where(and(ofAccount, sql`${available} >= ${value('amount')}`))
      .returning({ available }),
  );

  const spend = database.prepare<
    { accountId: string; held: Micro; debited: Micro },
    [posted: Micro, available: Micro]
  >(
    database.db
      .update(balances)
      .set({
        posted: sql`${balances.posted} - ${value('debited')}`,
        held: sql`${balances.held} - ${value('held')}`,
      })
      .where(ofAccount)
      .returning({ posted: balances.posted, available }),
  );

  const move = database.prepare<
    { accountId: string; amount: Micro },
    [posted: Micro, available: Micro]
  >(
    database.db
      .update(balances)
      .set({ posted: sql`${balances.posted} + ${value('amount')}` })
      .where(
        and(
          ofAccount,
          sql`${available} + ${value('amount')} >= 0`,
          sql`${balances.posted} + ${value('amount')} <= ${sql.raw(String(AMOUNT_MAX))}`,
        ),
      )
      .returning({ posted: balances.posted, available }),
  );

  const find = database.db
    .select({ posted: balances.posted, held: balances.held, available })
    .from(balances)
    .where(ofAccount)
    .prepare();

  return {
    /** Raises what is held, if the available balance covers it. Answers what is available then. */
    reserve: (accountId: string, amount: Micro) =>
      andThen(reserve.get({ accountId, amount }), (row) => row?.[0]),
    /** Ends a hold of `held` and takes `debited`. */
    spend: (accountId: string, held: Micro, debited: Micro) =>
      andThen(spend.get({ accountId, held, debited }), change),
    /** Adds to the balance, or takes from what is available, within the bounds that there are. */
    move: (accountId: string, amount: Micro) => andThen(move.get({ accountId, amount }), change),
    /** Throws `LedgerRefusal` for an unknown account. */
    async balance(accountId: string): Promise<Balance> {
      const found = await find.get({ accountId });
      if (found === undefined) throw new LedgerRefusal('There is no account with this id.');
      return found;
    },
  };
}

function change(row: readonly [Micro, Micro] | undefined): Change | undefined {
  return row === undefined ? undefined : { posted: row[0], available: row[1] };
}
