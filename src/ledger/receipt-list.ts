// The receipts of an account as a list, newest first, a page at a time: what a customer sees of the
// ledger, and its movements as operators see them. It only reads.

import type { AccountReceipt } from '../core/receipt.ts';
import type { Queries } from '../store/contract.ts';
import { ReceiptReader } from './booked-receipts.ts';

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
  const found = await new ReceiptReader(db).read(accountId, { ...page, order: 'newest first' });
  return found.map(({ receipt }) => receipt);
}

export type ListedMovement = Awaited<ReturnType<typeof listMovements>>[number];

/** With their reasons, which customers are not shown. */
export function listMovements(db: Queries, accountId: string, page: Page) {
  return new ReceiptReader(db).movements(accountId, { ...page, order: 'newest first' });
}
