// An account's ledger as its receipts record it: entries, one receipt, verification of the chain,
// and redeemed codes.

import type { checkReceipts } from '../../operations/receipt-steps.ts';
import type { showReceipt } from '../../operations/receipts.ts';
import type { entryRecord } from '../customer/ledger.ts';

export type LedgerEntryRecord = ReturnType<typeof entryRecord>;

export type ReceiptRecord = Awaited<ReturnType<typeof showReceipt>>;

/** One step of the verification of the chain. */
export type ReceiptCheckRecord = Omit<Awaited<ReturnType<typeof checkReceipts>>, 'balance'> & {
  /** The balance in the last verified receipt. */
  readonly balance: string;
  /** Where to continue; null at the end. */
  readonly next: number | null;
};

/** A month whose requests are in an archive. */
export type ArchiveRecord = {
  readonly month: string;
  readonly requests: number;
  /** Of its receipts. */
  readonly first: number;
  readonly last: number;
  readonly closing_balance: string;
  readonly archived_at: string;
  /** Whether this server can send the file. */
  readonly has_file: boolean;
};

export type RedeemedRecord = {
  readonly amount: string;
  readonly amount_usd: string;
  /** The available balance. */
  readonly available: string;
};
