// The movements of an account that no request made, newest first, a page at a time: credits, grants,
// redemptions and adjustments, with the reason that the books have and customers are not told. Found
// among the account's receipts, because entries have no index by account. Nothing here writes.

import { and, inArray, isNotNull } from 'drizzle-orm';
import { type MovementReceipt, readReceipt } from '../core/receipt.ts';
import type { Database } from '../store/contract.ts';
import { ledgerEntries } from '../store/money-tables.ts';
import { listReceipts } from './receipt-list.ts';

export type ListedMovement = {
  readonly receipt: MovementReceipt;
  readonly reason: string | null;
};

/** At most `limit` movements; those before the receipt `before` of the account where it is given. */
export async function listMovements(
  { db }: Database,
  accountId: string,
  page: { readonly limit: number; readonly before: number | undefined },
): Promise<readonly ListedMovement[]> {
  const bodies = await listReceipts(db, accountId, { ...page, only: 'movements' });
  const movements = bodies.flatMap(({ body }) => {
    const receipt = readReceipt(body);
    return receipt === undefined || receipt.kind === 'request' ? [] : [receipt];
  });
  const transferIds = movements.map(({ transferId }) => transferId);
  const rows = await db
    .select({ transferId: ledgerEntries.transferId, reason: ledgerEntries.reason })
    .from(ledgerEntries)
    .where(and(inArray(ledgerEntries.transferId, transferIds), isNotNull(ledgerEntries.reason)))
    .all();
  const reasons = new Map(rows.map(({ transferId, reason }) => [transferId, reason]));
  return movements.map((receipt) => ({
    receipt,
    reason: reasons.get(receipt.transferId) ?? null,
  }));
}
