// Lists the active blocks with their targets for operators, newest first, in pages. Read-only.

import { and, desc, eq, lt, or, sql } from 'drizzle-orm';
import type { Database } from '../store/contract.ts';
import { accounts, apiKeys, type BlockKind, blocks } from '../store/tables.ts';
import { type Block, isInForce } from './blocks.ts';

export type ListedBlock = {
  readonly block: Block;
  /** Rises with every block that is added. */
  readonly number: number;
  /** The account, or the account of the key; null for networks. */
  readonly accountId: string | null;
  readonly email: string | null;
  /** The masked key. */
  readonly masked: string | null;
};

/** At most `limit` blocks; only those below the number `before` where it is given. */
export async function listBlocks(
  { db }: Database,
  kind: BlockKind | undefined,
  { limit, before, nowMs }: { limit: number; before: number | undefined; nowMs: number },
): Promise<readonly ListedBlock[]> {
  const number = sql<number>`${blocks}.rowid`.mapWith(Number);
  return db
    .select({
      block: blocks,
      number,
      accountId: accounts.id,
      email: accounts.email,
      masked: apiKeys.masked,
    })
    .from(blocks)
    .leftJoin(apiKeys, and(eq(blocks.kind, 'key'), eq(apiKeys.id, blocks.value)))
    .leftJoin(
      accounts,
      or(
        eq(accounts.id, apiKeys.accountId),
        and(eq(blocks.kind, 'account'), eq(accounts.id, blocks.value)),
      ),
    )
    .where(
      and(
        isInForce(nowMs),
        kind === undefined ? undefined : eq(blocks.kind, kind),
        before === undefined ? undefined : lt(number, before),
      ),
    )
    .orderBy(desc(number))
    .limit(limit)
    .all();
}
