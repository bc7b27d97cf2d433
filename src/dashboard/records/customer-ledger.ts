// The money of an account as its receipts tell it: entries, one receipt, the check of the chain, and
// what a code brought.

import type { checkReceipts } from '../../operations/receipt-steps.ts';
import type { showReceipt } from '../../operations/receipts.ts';

export type LedgerEntryRecord = {
  /** Its number in the chain of receipts. */
  readonly sequence: number;
  readonly kind: 'request' | 'credit' | 'grant' | 'redemption' | 'adjustment';
  /** The request id, or the id of the movement: what the receipt is found by. */
  readonly id: string;
  readonly at: string;
  /** Of the request; null for a movement. */
  readonly model: string | null;
  /** What it added to the balance, or took from it, in service tokens. */
  readonly amount: string;
  readonly amount_usd: string;
  /** After it, with what was reserved then. */
  readonly balance: string;
};

export type ReceiptRecord = Awaited<ReturnType<typeof showReceipt>>;

/** One step of a check of the whole chain. */
export type ReceiptCheckRecord = Omit<Awaited<ReturnType<typeof checkReceipts>>, 'balance'> & {
  /** What the last receipt checked says is left. */
  readonly balance: string;
  /** Where to go on; null once all are checked. */
  readonly next: number | null;
};

export type RedeemedRecord = {
  readonly amount: string;
  readonly amount_usd: string;
  /** What is available now. */
  readonly available: string;
};
