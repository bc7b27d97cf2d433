// The audit of balances: each is the sum of its entries, and holds what its open holds do.

import { sql } from 'drizzle-orm';
import { formatTokens, type Micro } from '../../core/money.ts';
import type { Database, Queries } from '../../store/database.ts';
import type { AuditScope, Difference } from './difference.ts';
import { addNewEntries, type EntrySums } from './entries.ts';
import { accountPages, all, one } from './pages.ts';

type Row = {
  readonly accountId: string;
  readonly posted: Micro;
  readonly held: Micro;
  readonly open: Micro;
};

/** `sums` has the entries up to some moment; the rest is added here. */
export function* accountDifferences(
  database: Database,
  scope: AuditScope,
  sums: EntrySums,
): Generator<Difference> {
  const { db } = database;
  const seen = new Set<string>();
  for (const page of accountPages(db, scope.accountId)) {
    // One look for the new entries and the balances: a movement is in both or in neither.
    const rows = database.snapshot((tx) => {
      addNewEntries(tx, scope, sums);
      return balancesOf(tx, page);
    });
    for (const row of rows) {
      seen.add(row.accountId);
      yield* balanceDifferences(row, sums.byAccount.get(row.accountId) ?? 0n);
    }
  }
  for (const [accountId, sum] of sums.byAccount) {
    if (seen.has(accountId) || hasBalance(db, accountId)) continue;
    const detail = `its entries sum to ${formatTokens(sum)}, and it has no balance`;
    yield { kind: 'posted', accountId, subject: accountId, detail };
  }
}

function balancesOf(db: Queries, accountIds: readonly string[]): Row[] {
  const first = accountIds[0] ?? '';
  const last = accountIds.at(-1) ?? '';
  return all<Row>(
    db,
    sql`select b.account_id as accountId, b.posted, b.held,
          (select coalesce(sum(h.amount), 0) from holds h
            where h.account_id = b.account_id and h.ended_at is null) as open
        from balances b where b.account_id between ${first} and ${last}`,
  );
}

function hasBalance(db: Queries, accountId: string): boolean {
  const query = sql`select 1 as found from balances where account_id = ${accountId}`;
  return one(db, query) !== undefined;
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
