// Audits budgets of keys: each belongs to an account that counts it, and what it has counted is the
// sum of what its keys were charged.

import { type SQL, sql } from 'drizzle-orm';
import { formatTokens, type Micro } from '../../core/money.ts';
import type { Database } from '../../store/contract.ts';
import { unindexedNumber } from '../../store/portable.ts';
import type { AuditScope, Difference } from './difference.ts';
import { ACCOUNTS_PAGE } from './pages.ts';
import { EVERYTHING, passOf } from './pass.ts';

/** An account that has budgets; all null but its number where it has no balance. */
type BudgetedAccount = {
  readonly number: bigint;
  readonly accountId: string | null;
  readonly budgets: bigint | null;
};

type Row = { readonly family: string; readonly counted: Micro; readonly charged: Micro };

export async function* budgetDifferences(
  database: Database,
  { accountId: only, pass = EVERYTHING, rest }: AuditScope,
): AsyncGenerator<Difference> {
  for await (const account of budgetedAccounts(database, only)) {
    const { accountId, budgets, number } = account;
    const { turn, turns } = passOf(pass, accountId);
    if (Number(number) % turns !== turn) continue;
    await rest?.();
    const isCounted = accountId !== null && budgets !== 0n;
    const rows = await database.rows<Row>(wrongBudgets(account, isCounted));
    for (const { family: subject, counted, charged } of rows) {
      const detail = isCounted
        ? `its keys were charged ${formatTokens(charged)}, and its budget has counted ${formatTokens(counted)}`
        : 'it has a budget that no account counts';
      yield { kind: 'budget', accountId, subject, detail };
    }
  }
}

/** The given account or all that have a budget, in pages. */
async function* budgetedAccounts(
  database: Database,
  only: string | undefined,
): AsyncGenerator<BudgetedAccount> {
  for (let after = -1n; ; ) {
    const isNext =
      only === undefined
        ? sql`account > ${after}`
        : sql`account = (select number from balances where account_id = ${only})`;
    const page = await database.rows<BudgetedAccount>(
      sql`select page.account as number, b.account_id as "accountId", b.budgets
        from (select distinct account from key_budgets where ${isNext}
          order by account limit ${ACCOUNTS_PAGE}) as page
          left join balances b on b.number = page.account order by page.account`,
    );
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < ACCOUNTS_PAGE) return;
    after = last.number;
  }
}

/**
 * The budgets of an account that have counted something else than was charged, or all that no
 * account counts. One statement, because requests end while it runs. It reads each row of the
 * account once: customers leave any number of revoked keys and their budgets behind.
 */
function wrongBudgets({ number, accountId }: BudgetedAccount, isCounted: boolean): SQL {
  const isWrong = isCounted ? sql`max(counted) <> sum(debited)` : sql`max(counted) is not null`;
  return sql`select family, max(counted) as counted, cast(sum(debited) as bigint) as charged
      from (
        select t.text as family, g.number, g.spent_total as counted, 0 as debited
          from key_budgets g join texts t on t.number = g.family where g.account = ${number}
        union all
        select coalesce(k.family, spent.id), null, null, spent.debited
          from (
            select d.key_id as id, d.debited from usage_days d where d.account_id = ${accountId}
            union all
            select t.text, r.charged - r.loss from requests r join texts t on t.number = r.key
              where r.number > (select last_record from usage_mark)
                and ${unindexedNumber(sql`r.account`)} = ${number}
          ) as spent left join api_keys k on k.id = spent.id
      ) as booked
      group by family having ${isWrong} order by max(number)`;
}
