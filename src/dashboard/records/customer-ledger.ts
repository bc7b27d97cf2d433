// The money of an account as its receipts tell it: entries, one receipt, the check of the chain, and
// what a code brought.

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

export type ReceiptRecord = {
  /** The receipt itself, member by member as the chain has it. */
  readonly receipt: unknown;
  /** SHA-256 of its text, which the next receipt names. */
  readonly hash: string;
};

/** One step of a check of the whole chain. */
export type ReceiptCheckRecord = {
  /** The receipts that were checked; both 0 where there are none. */
  readonly first: number;
  readonly last: number;
  /** The last receipt there is. */
  readonly end: number;
  readonly problems: readonly {
    readonly sequence: number;
    readonly kind: string;
    readonly detail: string;
  }[];
  /** What the last receipt checked says is left. */
  readonly balance: string;
  /** The hash of the last receipt checked, to be compared with an export. */
  readonly head: string;
  /** Where to go on; null once all are checked. */
  readonly next: number | null;
};

export type RedeemedRecord = {
  readonly amount: string;
  readonly amount_usd: string;
  /** What is available now. */
  readonly available: string;
};
