// Appends receipts to the chain of an account, in the transaction of the movement that they tell of.
// The head of a chain is read there too: another process may have written in between.

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

export function createAppendReceipt(statements: Statements): AppendReceipt {
  return (facts) => {
    const { accountId } = facts;
    const last = statements.lastReceipt(accountId);
    const sequence = last === undefined ? 1 : Number(last[0]) + 1;
    const receipt: AccountReceipt = {
      ...facts,
      sequence,
      previous: last?.[1] ?? NO_PREVIOUS_RECEIPT,
    };
    const body = receiptBody(receipt);
    statements.insertReceipt({
      accountId,
      sequence,
      subject: receipt.kind === 'request' ? receipt.requestId : receipt.transferId,
      at: receipt.kind === 'request' ? receipt.endedAt : receipt.at,
      body,
      hash: hash('sha256', body, 'hex'),
    });
  };
}
