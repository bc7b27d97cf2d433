// The receipts of an account as a list, newest first, a page at a time: what a customer sees of the
// ledger. Called by the dashboard; it only reads.

import { and, desc, eq, lt, sql } from 'drizzle-orm';
import type { Queries } from '../store/contract.ts';
import { receipts } from '../store/money-tables.ts';

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
