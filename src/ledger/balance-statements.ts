// The statements over `balances`, and nothing else. Each is a guarded update of one row: it answers
// with what the row says then, or with `undefined` when its condition did not hold.

import { and, eq, sql } from 'drizzle-orm';
import { andThen } from '../async/awaitable.ts';
import { AMOUNT_MAX, type Micro } from '../core/money.ts';
import { LARGEST } from '../store/columns.ts';
import type { Database } from '../store/contract.ts';
import { balances } from '../store/money-tables.ts';
import { larger, smaller } from '../store/portable.ts';
import type { Balance } from './contract.ts';
import { LedgerRefusal } from './error.ts';

type Change = { readonly posted: Micro; readonly available: Micro };

type Charge = { readonly debited: Micro; readonly loss: Micro };

const ZERO = sql`0`;

export function prepareBalanceStatements(database: Database) {
  const value = sql.placeholder;
  const available = sql<Micro>`${balances.posted} - ${balances.held}`;
  const ofAccount = eq(balances.accountId, value('accountId'));

  const reserve = database.prepare<
    { accountId: string; amount: Micro },
    [available: Micro, posted: Micro, unpaid: Micro]
  >(
    database.db
      .update(balances)
      .set({ held: sql`${balances.held} + ${value('amount')}` })
      .where(and(ofAccount, sql`${available} >= ${value('amount')}`))
      .returning({ available, posted: balances.posted, unpaid: balances.unpaid }),
  );

  const spend = database.prepare<
    { accountId: string; held: Micro; debited: Micro; loss: Micro },
    [posted: Micro, available: Micro, unpaid: Micro]
  >(
    database.db
      .update(balances)
      .set({
        posted: sql`${balances.posted} - ${value('debited')}`,
        held: sql`${balances.held} - ${value('held')}`,
        unpaid: smaller(sql`${balances.unpaid} + ${value('loss')}`, LARGEST),
      })
      .where(ofAccount)
      .returning({ posted: balances.posted, available, unpaid: balances.unpaid }),
  );

  const move = database.prepare<
    { accountId: string; amount: Micro },
    [posted: Micro, available: Micro]
  >(
    database.db
      .update(balances)
      .set({
        posted: sql`${balances.posted} + ${value('amount')}`,
        // What comes in lifts the restriction that charges without cover have brought.
        unpaid: larger(
          smaller(sql`${balances.unpaid} - ${value('amount')}`, balances.unpaid),
          ZERO,
        ),
      })
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
    /** Raises what is held, if the available balance covers it. Answers what is left then. */
    reserve: (accountId: string, amount: Micro) =>
      andThen(reserve.get({ accountId, amount }), (row) =>
        row === undefined ? undefined : { available: row[0], posted: row[1], unpaid: row[2] },
      ),
    /** Ends a hold of `held`, takes `debited`, and notes what could not be taken. */
    spend: (accountId: string, held: Micro, { debited, loss }: Charge) =>
      andThen(spend.get({ accountId, held, debited, loss }), (row) =>
        row === undefined ? undefined : { posted: row[0], available: row[1], unpaid: row[2] },
      ),
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
