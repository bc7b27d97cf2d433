// Receipts as the books store them: a number and a hash. `core/receipt.ts` writes the text from
// facts in the row of the request or movement, when the ledger hashes it and again for each reader.
// Each balance follows from the receipt before it, not from the books. So the chain stays
// consistent when a balance is wrong, and the audit finds where the two differ.

import { type Micro, smaller, subtract } from '../core/money.ts';
import {
  linkedBody,
  type MovementFacts,
  NO_PREVIOUS_RECEIPT,
  type RequestFacts,
} from '../core/receipt.ts';
import type { AccountBooks } from './memory.ts';

type StatedReceipt = {
  readonly sequence: number;
  /** The balance that it states, and how much of it was held. */
  readonly posted: Micro;
  readonly reserved: Micro;
  /** SHA-256 of its text. */
  readonly hash: Uint8Array;
};

/**
 * The next receipt of an account. `posted` is the balance of its chain after it, `left` what is
 * then available by the books.
 */
export function receiptOf(
  { id, sequence: last, head }: Pick<AccountBooks, 'id' | 'sequence' | 'head'>,
  posted: Micro,
  left: Micro,
  facts: RequestFacts | MovementFacts,
): StatedReceipt {
  const sequence = last + 1;
  const available = smaller(left, posted);
  const link = { accountId: id, sequence, previous: hashText(head), posted, available };
  const hash = Bun.SHA256.hash(linkedBody(link, facts)) as Uint8Array;
  return { sequence, posted, reserved: subtract(posted, available), hash };
}

/** A hash as receipts print it: lower-case hexadecimal, zeros before the first. */
export function hashText(hash: Uint8Array | null): string {
  return hash === null ? NO_PREVIOUS_RECEIPT : hash.toHex();
}
