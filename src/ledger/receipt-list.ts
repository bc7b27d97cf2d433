// The receipts of an account as a list, newest first, a page at a time: what a customer sees of the
// ledger, and its movements as operators see them. It only reads.

import type { AccountReceipt } from '../core/receipt.ts';
import type { Queries } from '../store/contract.ts';
import { movementRows, readReceipts } from './booked-receipts.ts';

type Page = {
  readonly limit: number;
  /** Only those before this one. */
  readonly before: number | undefined;
};

export async function listReceipts(
  db: Queries,
  accountId: string,
  page: Page & { readonly only: 'everything' | 'movements' },
): Promise<readonly AccountReceipt[]> {
  const found = await readReceipts(db, accountId, { ...page, order: 'newest first' });
  return found.map(({ receipt }) => receipt);
}

export type ListedMovement = Awaited<ReturnType<typeof listMovements>>[number];

/** With their reasons, which customers are not shown. */
export function listMovements(db: Queries, accountId: string, page: Page) {
  return movementRows(db, accountId, { ...page, order: 'newest first' });
}
