// Appends receipts to the chain of an account, in the transaction of the movement that they tell of.
// Heads are remembered for as long as nobody else has written: to read one takes as long as to write
// the receipt. A head that was wrong all the same would collide with the receipt that is there.

import { hash } from 'node:crypto';
import {
  type AccountReceipt,
  type MovementReceipt,
  NO_PREVIOUS_RECEIPT,
  type RequestReceipt,
  receiptBody,
} from '../core/receipt.ts';
import type { Statements } from './statements.ts';

type Link = 'sequence' | 'previous';

/** What a receipt says, but for its place in the chain. */
export type ReceiptFacts = Omit<RequestReceipt, Link> | Omit<MovementReceipt, Link>;

export type AppendReceipt = (facts: ReceiptFacts) => void;

type Head = { readonly sequence: number; readonly hash: string };

const HEADS_MAX = 10_000;

export function createReceipts(statements: Statements): {
  readonly append: AppendReceipt;
  /** After a rollback: what was appended is gone. */
  readonly forget: () => void;
} {
  const heads = new Map<string, Head>();
  let commits: number | undefined;

  function headOf(accountId: string): Head {
    const now = statements.foreignCommits();
    if (now !== commits || heads.size >= HEADS_MAX) heads.clear();
    commits = now;
    const last = heads.get(accountId) ?? statements.lastReceipt(accountId);
    return last ?? { sequence: 0, hash: NO_PREVIOUS_RECEIPT };
  }

  function append(facts: ReceiptFacts): void {
    const { accountId } = facts;
    const head = headOf(accountId);
    const sequence = head.sequence + 1;
    const receipt: AccountReceipt = { ...facts, sequence, previous: head.hash };
    const body = receiptBody(receipt);
    const digest = hash('sha256', body, 'hex');
    statements.insertReceipt({
      accountId,
      sequence,
      subject: receipt.kind === 'request' ? receipt.requestId : receipt.transferId,
      at: receipt.kind === 'request' ? receipt.endedAt : receipt.at,
      body,
      hash: digest,
    });
    heads.set(accountId, { sequence, hash: digest });
  }

  return { append, forget: () => heads.clear() };
}
