// The receipts of an account as a list, newest first, a page at a time: what a customer sees of the
// ledger, and its movements as operators see them. Entries have no index by account, so movements are
// found among the receipts. It only reads.

import { and, desc, eq, inArray, isNotNull, lt, sql } from 'drizzle-orm';
import { type MovementReceipt, readReceipt } from '../core/receipt.ts';
import type { Database, Queries } from '../store/contract.ts';
import { ledgerEntries, receipts } from '../store/money-tables.ts';

export type ListedReceipt = {
  readonly sequence: number;
  readonly body: string;
};

type ReceiptListOptions = {
  readonly limit: number;
  /** Only those before this one. */
  readonly before: number | undefined;
  /** `movements` are those that no request made: credits, codes, corrections. */
  readonly only: 'everything' | 'movements';
};

export async function listReceipts(
  db: Queries,
  accountId: string,
  { limit, before, only }: ReceiptListOptions,
): Promise<readonly ListedReceipt[]> {
  // Letter for letter the condition of the index of movements, which is found by it.
  const isMovement = sql`substr(${receipts.subject}, 1, 4) <> 'req_'`;
  return db
    .select({ sequence: receipts.sequence, body: receipts.body })
    .from(receipts)
    .where(
      and(
        eq(receipts.accountId, accountId),
        before === undefined ? undefined : lt(receipts.sequence, before),
        only === 'movements' ? isMovement : undefined,
      ),
    )
    .orderBy(desc(receipts.sequence))
    .limit(limit)
    .all();
}

export type ListedMovement = {
  readonly receipt: MovementReceipt;
  /** What the books have and customers are not told. */
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
