// The audit of balances: each is the sum of its entries, and holds what its open holds do.

import { sql } from 'drizzle-orm';
import { add, formatTokens, type Micro, ZERO } from '../../core/money.ts';
import type { Database } from '../../store/contract.ts';
import type { AuditScope, Difference } from './difference.ts';
import { addSettledEntries, type EntrySums, newestSums } from './entries.ts';
import { accountPages, one } from './pages.ts';

type Row = {
  readonly accountId: string;
  readonly posted: Micro;
  readonly held: Micro;
  readonly open: Micro;
};

/** `sums` has the entries up to some moment; the rest is added here. */
export async function* accountDifferences(
  database: Database,
  scope: AuditScope,
  sums: EntrySums,
): AsyncGenerator<Difference> {
  const seen = new Set<string>();
  for await (const page of accountPages(database, scope.accountId)) {
    await addSettledEntries(database, scope, sums);
    // One look for the newest entries and the balances: a movement is in both or in neither.
    const { rows, newest } = await database.snapshot(async () => ({
      newest: await newestSums(database, scope, sums),
      rows: await balancesOf(database, page),
    }));
    for (const row of rows) {
      const { accountId } = row;
      seen.add(accountId);
      const sum = add(sums.byAccount.get(accountId) ?? ZERO, newest.get(accountId) ?? ZERO);
      yield* balanceDifferences(row, sum);
    }
  }
  for (const [accountId, sum] of sums.byAccount) {
    if (seen.has(accountId) || (await hasBalance(database, accountId))) continue;
    const detail = `its entries sum to ${formatTokens(sum)}, and it has no balance`;
    yield { kind: 'posted', accountId, subject: accountId, detail };
  }
}

function balancesOf(database: Database, accountIds: readonly string[]): Promise<Row[]> {
  const first = accountIds[0] ?? '';
  const last = accountIds.at(-1) ?? '';
  return database.rows<Row>(
    sql`select b.account_id as "accountId", b.posted, b.held,
          (select coalesce(sum(h.amount), 0) from holds h
            where h.account_id = b.account_id and h.ended_at is null) as open
        from balances b where b.account_id between ${first} and ${last}`,
  );
}

async function hasBalance(database: Database, accountId: string): Promise<boolean> {
  const query = sql`select 1 as found from balances where account_id = ${accountId}`;
  return (await one(database, query)) !== undefined;
}

function* balanceDifferences(row: Row, sum: Micro): Generator<Difference> {
  const { accountId, posted, held, open } = row;
  if (posted !== sum) {
    const detail = `its entries sum to ${formatTokens(sum)}, and ${formatTokens(posted)} is posted`;
    yield { kind: 'posted', accountId, subject: accountId, detail };
  }
  if (held !== open) {
    const detail = `its open holds sum to ${formatTokens(open)}, and ${formatTokens(held)} is held`;
    yield { kind: 'held', accountId, subject: accountId, detail };
  }
}
