// Audits budgets of keys: what one has counted is the sum of what its keys were charged, and no
// more was charged in a day or month than in total.

import { sql } from 'drizzle-orm';
import { formatTokens, type Micro } from '../../core/money.ts';
import type { Database } from '../../store/contract.ts';
import { BookedNames } from '../booked-names.ts';
import type { AuditScope, Difference } from './difference.ts';
import { ofAccount } from './pages.ts';

type Row = {
  readonly accountId: string | null;
  readonly family: bigint;
  readonly counted: Micro;
  readonly charged: Micro;
  readonly budgets: bigint | null;
};

/** In one statement for all, because requests end while it runs; few keys have budgets. */
export async function* budgetDifferences(
  database: Database,
  { accountId: only }: AuditScope,
): AsyncGenerator<Difference> {
  const rows = await database.rows<Row>(
    sql`select b.account_id as "accountId", g.family, g.spent_total as counted, b.budgets,
        (select cast(coalesce(sum(d.debited), 0) as bigint) from usage_days d
          where d.account_id = b.account_id and (d.key_id = t.text
            or d.key_id in (select k.id from api_keys k where k.family = t.text)))
        + (select cast(coalesce(sum(r.charged - r.loss), 0) as bigint) from requests r
          where r.account = g.account and r.number > (select last_record from usage_mark)
            and (r.key = g.family or r.key in (select kt.number from texts kt
              join api_keys k on k.id = kt.text where k.family = t.text))) as charged
      from key_budgets g join texts t on t.number = g.family
        left join balances b on b.number = g.account
      where 1 = 1 ${ofAccount(sql`b.account_id`, only)} order by g.number`,
  );
  const names = new BookedNames();
  const families = rows.map(({ family }) => Number(family));
  await names.read(database.db, families);
  for (const { accountId, family, counted, charged, budgets } of rows) {
    const subject = names.text(Number(family));
    if (accountId === null || budgets === 0n) {
      const detail = 'it has a budget that no account counts';
      yield { kind: 'budget', accountId, subject, detail };
    } else if (BigInt(counted) !== BigInt(charged)) {
      const detail = `its keys were charged ${formatTokens(charged)}, and its budget has counted ${formatTokens(counted)}`;
      yield { kind: 'budget', accountId, subject, detail };
    }
  }
}
