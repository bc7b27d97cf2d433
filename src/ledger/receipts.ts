// Appends receipts to the chain of an account, in the transaction of the movement that they tell of.
// Heads are remembered for as long as nobody else has written: to read one takes as long as to write
// the receipt. A head that was wrong all the same would collide with the receipt that is there.
// Each balance follows from the receipt before it and not from the books, so that a chain stays one
// while a balance is wrong, and the audit sees where the two part.

import { hash } from 'node:crypto';
import { type Awaitable, andThen } from '../async/awaitable.ts';
import { add, type Micro, smaller } from '../core/money.ts';
import {
  type AccountReceipt,
  type MovementReceipt,
  movedBy,
  NO_PREVIOUS_RECEIPT,
  type RequestReceipt,
  readReceipt,
  receiptBody,
} from '../core/receipt.ts';
import type { LastReceipt, Statements } from './statements.ts';

type Link = 'sequence' | 'previous';

/** What a receipt says, but for its place in the chain. */
type ReceiptFacts = Omit<RequestReceipt, Link> | Omit<MovementReceipt, Link>;

export type AppendReceipt = (facts: ReceiptFacts) => Awaitable<void>;

type Head = {
  readonly sequence: number;
  readonly hash: string;
  /** Undefined before the first receipt: the balance is the one of the books then. */
  readonly posted: Micro | undefined;
};

const HEADS_MAX = 10_000;

export function createReceipts(statements: Statements): {
  readonly append: AppendReceipt;
  /** The newest receipt of an account, read under the lock of its balance. */
  readonly know: (accountId: string, last: LastReceipt | undefined) => void;
  /** After a rollback, or where somebody else has written. */
  readonly forget: () => void;
} {
  const heads = new Map<string, Head>();

  function headOf(accountId: string): Awaitable<Head> {
    if (heads.size >= HEADS_MAX) heads.clear();
    return heads.get(accountId) ?? andThen(statements.lastReceipt(accountId), headAt);
  }

  function append(facts: ReceiptFacts): Awaitable<void> {
    return andThen(headOf(facts.accountId), (head) => appendTo(head, facts));
  }

  function appendTo(head: Head, facts: ReceiptFacts): Awaitable<void> {
    const { accountId } = facts;
    const sequence = head.sequence + 1;
    const posted = head.posted === undefined ? facts.posted : add(head.posted, movedBy(facts));
    const available = smaller(facts.available, posted);
    const link = { posted, available, sequence, previous: head.hash };
    const receipt: AccountReceipt = { ...facts, ...link };
    const body = receiptBody(receipt);
    const digest = hash('sha256', body, 'hex');
    const row = {
      accountId,
      sequence,
      subject: receipt.kind === 'request' ? receipt.requestId : receipt.transferId,
      at: receipt.kind === 'request' ? receipt.endedAt : receipt.at,
      body,
      hash: digest,
    };
    return andThen(statements.insertReceipt(row), () => {
      heads.set(accountId, { sequence, hash: digest, posted });
    });
  }

  return {
    append,
    know: (accountId, last) => void heads.set(accountId, headAt(last)),
    forget: () => heads.clear(),
  };
}

function headAt(last: LastReceipt | undefined): Head {
  if (last === undefined) return { sequence: 0, hash: NO_PREVIOUS_RECEIPT, posted: undefined };
  const { sequence, hash, body } = last;
  return { sequence, hash, posted: readReceipt(body)?.posted };
}
