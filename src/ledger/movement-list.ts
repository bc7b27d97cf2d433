// The movements of an account that no request made, newest first, a page at a time: credits, grants,
// redemptions and adjustments, with the reason that the books have and customers are not told. Found
// among the account's receipts, because entries have no index by account. Nothing here writes.

import { and, desc, eq, inArray, isNotNull, lt, sql } from 'drizzle-orm';
import { type MovementReceipt, readReceipt } from '../core/receipt.ts';
import type { Database } from '../store/contract.ts';
import { ledgerEntries, receipts } from '../store/money-tables.ts';

export type ListedMovement = {
  readonly receipt: MovementReceipt;
  readonly reason: string | null;
};

/** At most `limit` movements; those before the receipt `before` of the account where it is given. */
export async function listMovements(
  { db }: Database,
  accountId: string,
  { limit, before }: { readonly limit: number; readonly before: number | undefined },
): Promise<readonly ListedMovement[]> {
  const bodies = await db
    .select({ body: receipts.body })
    .from(receipts)
    .where(
      and(
        eq(receipts.accountId, accountId),
        // Word for word the condition of the index receipts_movements.
        sql`substr(${receipts.subject}, 1, 4) <> 'req_'`,
        before === undefined ? undefined : lt(receipts.sequence, before),
      ),
    )
    .orderBy(desc(receipts.sequence))
    .limit(limit)
    .all();
  const movements = bodies.flatMap(({ body }) => {
    const receipt = readReceipt(body);
    return receipt === undefined || receipt.kind === 'request' ? [] : [receipt];
  });
  const reasons = await reasonsOf(
    { db },
    movements.map(({ transferId }) => transferId),
  );
  return movements.map((receipt) => ({
    receipt,
    reason: reasons.get(receipt.transferId) ?? null,
  }));
}

async function reasonsOf(
  { db }: Pick<Database, 'db'>,
  transferIds: readonly string[],
): Promise<ReadonlyMap<string, string | null>> {
  const rows = await db
    .select({ transferId: ledgerEntries.transferId, reason: ledgerEntries.reason })
    .from(ledgerEntries)
    .where(
      and(inArray(ledgerEntries.transferId, [...transferIds]), isNotNull(ledgerEntries.reason)),
    )
    .all();
  return new Map(rows.map(({ transferId, reason }) => [transferId, reason]));
}
