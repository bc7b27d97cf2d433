// Shows one receipt of an account, exports a part of the chain, and verifies the chain. Called by
// the command line and the customer's pages. Read-only.

import type { Span } from '../core/calendar.ts';
import { receiptBody } from '../core/receipt.ts';
import { type ChainTotals, createChainCheck } from '../core/receipt-chain.ts';
import {
  type ArchivedMonth,
  archivedWithin,
  archivesOfRequest,
} from '../ledger/archive/anchors.ts';
import { accountDifferences } from '../ledger/audit/accounts.ts';
import type { DifferenceKind } from '../ledger/audit/difference.ts';
import { findReceipt } from '../ledger/booked-receipts.ts';
import { findSlice, receiptPages, type Slice } from '../ledger/receipt-slices.ts';
import type { Database } from '../store/contract.ts';
import { watchCut } from './archive/cut.ts';
import { archivedForCustomer, archivedForOperator, monthsText } from './archive/notices.ts';
import { OperationError } from './error.ts';
import { exportLines, sha256 } from './receipt-file.ts';

/**
 * `receipt` is the JSON document itself, `hash` the one that the account's next receipt contains.
 */
type ShownReceipt = { readonly receipt: unknown; readonly hash: string };

/**
 * The receipt of a request, by its id, or of a movement, by its transfer id. With an account,
 * receipts of others look like missing ones. Throws `receipt_not_found`, or `request_archived`.
 */
export async function showReceipt(
  database: Database,
  subject: string,
  accountId?: string,
): Promise<ShownReceipt> {
  const found = await findReceipt(database.db, subject);
  if (found === undefined) {
    const [archive, ...others] = await archivesOfRequest(database.db, subject, accountId);
    if (archive !== undefined && accountId !== undefined) throw archivedForCustomer(archive);
    if (archive !== undefined) throw archivedForOperator([archive, ...others]);
  }
  if (found === undefined || (accountId !== undefined && found.receipt.accountId !== accountId)) {
    throw new OperationError(
      'receipt_not_found',
      'There is no receipt of a request or a movement with this id. A request that is still running, or was refused, has none.',
    );
  }
  return { receipt: JSON.parse(receiptBody(found.receipt)), hash: found.hash };
}

/** The slice and its text in pages, each line with its line break. */
type ReceiptExport = {
  readonly slice: Slice;
  readonly pieces: AsyncIterable<string>;
  /** Months of the period whose receipts are in archives and not in this export. */
  readonly archived: readonly ArchivedMonth[];
};

/**
 * The receipts of a period, or all of them, one per line. Throws `no_receipts` where there are
 * none.
 */
export async function exportReceipts(
  database: Database,
  accountId: string,
  span: Span | undefined,
  pieceReceipts?: number,
): Promise<ReceiptExport> {
  const { whole } = await watchCut(database, accountId);
  const slice = await findSlice(database.db, accountId, span);
  const archived = await archivedWithin(database.db, accountId, span);
  if (slice === undefined) throw new OperationError('no_receipts', noReceipts(archived));
  const pieces = exportLines(whole(receiptPages(database.db, accountId, slice, pieceReceipts)));
  return { slice, pieces, archived };
}

function noReceipts(archived: readonly ArchivedMonth[]): string {
  const months = monthsText(archived);
  return months === ''
    ? 'This account has no receipts of that time.'
    : `The receipts of that time are archived (${months}).`;
}

/** `of` is the number of a receipt, its id in the books, or an account with its archived month. */
type ReceiptProblem = {
  readonly of: number | string;
  readonly kind: string;
  readonly detail: string;
};

export type VerifiedReceipts = {
  readonly totals: ChainTotals;
  readonly problems: readonly ReceiptProblem[];
};

/** An anchor stands for the receipts of a month, and its movements are still in the database. */
const OF_RECEIPTS: ReadonlySet<DifferenceKind> = new Set(['chain', 'receipt', 'anchor']);

/** Verifies an account's whole chain against the books. */
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
    if (OF_RECEIPTS.has(kind)) problems.push({ of: subject, kind, detail });
  }
  return { totals: check.totals(), problems };
}
