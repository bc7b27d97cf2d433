// The receipts of an account: one of them, a stretch of the chain to take along, and whether the
// chain is whole. Called by the command line and by the customer's pages. Nothing here writes.

import type { Span } from '../core/calendar.ts';
import { receiptBody } from '../core/receipt.ts';
import { type ChainTotals, createChainCheck } from '../core/receipt-chain.ts';
import { accountDifferences } from '../ledger/audit/accounts.ts';
import { findReceipt } from '../ledger/booked-receipts.ts';
import { findSlice, receiptPages, type Slice } from '../ledger/receipt-slices.ts';
import type { Database } from '../store/contract.ts';
import { OperationError } from './error.ts';
import { exportLines, sha256 } from './receipt-file.ts';

/** `receipt` is the JSON document itself, `hash` what the next one of the account names. */
type ShownReceipt = { readonly receipt: unknown; readonly hash: string };

/**
 * The receipt of a request, by its id, or of a movement, by its transfer id. With an account, only
 * its own: another one's is not found like one that does not exist. Throws `receipt_not_found`.
 */
export async function showReceipt(
  database: Database,
  subject: string,
  accountId?: string,
): Promise<ShownReceipt> {
  const found = await findReceipt(database.db, subject);
  if (found === undefined || (accountId !== undefined && found.receipt.accountId !== accountId)) {
    throw new OperationError(
      'receipt_not_found',
      'There is no receipt of a request or a movement with this id. A request that is under way, or was refused, has none.',
    );
  }
  return { receipt: JSON.parse(receiptBody(found.receipt)), hash: found.hash };
}

/** What is written and the text of it, a page at a time, each line with its end. */
type ReceiptExport = { readonly slice: Slice; readonly pieces: AsyncIterable<string> };

/** The receipts of a span, or all of them, one a line. Throws `no_receipts` where there are none. */
export async function exportReceipts(
  database: Database,
  accountId: string,
  span: Span | undefined,
  pieceReceipts?: number,
): Promise<ReceiptExport> {
  const slice = await findSlice(database.db, accountId, span);
  if (slice === undefined) {
    throw new OperationError('no_receipts', 'This account has no receipts of that time.');
  }
  return { slice, pieces: exportLines(receiptPages(database.db, accountId, slice, pieceReceipts)) };
}

/** `of` is the number of a receipt, or what the books know it by. */
type ReceiptProblem = {
  readonly of: number | string;
  readonly kind: string;
  readonly detail: string;
};

export type VerifiedReceipts = {
  readonly totals: ChainTotals;
  readonly problems: readonly ReceiptProblem[];
};

/** The whole chain of an account, and what it says against the rest of the books. */
export async function verifyReceipts(
  database: Database,
  accountId: string,
): Promise<VerifiedReceipts> {
  const check = createChainCheck(sha256);
  const slice = await findSlice(database.db, accountId, undefined);
  const pages = slice === undefined ? [] : receiptPages(database.db, accountId, slice);
  for await (const bodies of pages) for (const body of bodies) check.take(body);
  const problems: ReceiptProblem[] = [];
  for await (const found of accountDifferences(database, { accountId })) {
    const { kind, subject, detail } = found;
    if (kind === 'chain' || kind === 'receipt') problems.push({ of: subject, kind, detail });
  }
  return { totals: check.totals(), problems };
}
