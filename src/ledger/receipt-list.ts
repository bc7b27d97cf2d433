// Lists the receipts of an account, newest first, in pages: the customer's view of the ledger, and
// the operators' view of movements. Read-only.

import type { AccountReceipt } from '../core/receipt.ts';
import type { Queries } from '../store/contract.ts';
import { ReceiptReader } from './booked-receipts.ts';

type Page = {
  readonly limit: number;
  /** Only receipts before this one. */
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

/** With reasons, which customers do not see. */
export function listMovements(db: Queries, accountId: string, page: Page) {
  return new ReceiptReader(db).movements(accountId, { ...page, order: 'newest first' });
}
