// Audits the anchors of an account: each is as it was hashed, continues the one before it, and
// agrees with its movements, whose rows stay in the database.

import { createHash, hash } from 'node:crypto';
import { add, formatTokens, subtract, ZERO } from '../../core/money.ts';
import { movedBy, receiptBody } from '../../core/receipt.ts';
import type { Queries } from '../../store/contract.ts';
import { type ArchivedMonth, anchorHash, listArchives } from '../archive/anchors.ts';
import { type BookedReceipt, ReceiptReader } from '../booked-receipts.ts';
import type { Difference } from './difference.ts';

const MOVEMENTS_PAGE = 500;

export async function* anchorDifferences(
  db: Queries,
  accountId: string,
): AsyncGenerator<Difference> {
  const receipts = new ReceiptReader(db);
  let before: ArchivedMonth | undefined;
  for (const anchor of await listArchives(db, accountId)) {
    for (const detail of ownProblems(anchor, before)) yield wrong(accountId, anchor.month, detail);
    for await (const detail of movementProblems(receipts, anchor)) {
      yield wrong(accountId, anchor.month, detail);
    }
    before = anchor;
  }
}

function wrong(accountId: string, month: string, detail: string): Difference {
  return { kind: 'anchor', accountId, subject: `${accountId} ${month}`, detail };
}

function* ownProblems(anchor: ArchivedMonth, before: ArchivedMonth | undefined) {
  if (anchorHash(anchor).toHex() !== anchor.hash.toHex()) {
    yield 'it says something else than when it was hashed';
  }
  const opening = before?.closing ?? ZERO;
  if (anchor.opening !== opening) {
    yield `it begins with ${formatTokens(anchor.opening)}, and the one before it ends with ${formatTokens(opening)}`;
  }
  if (anchor.firstSequence !== (before?.lastSequence ?? 0) + 1) {
    yield `it begins with receipt ${anchor.firstSequence}, and ${before?.lastSequence ?? 0} was the last one before it`;
  }
  if (anchor.previous?.toHex() !== before?.hash.toHex()) yield 'it names another anchor before it';
  const closing = subtract(add(anchor.opening, anchor.credited), anchor.debited);
  if (anchor.closing !== closing) {
    yield `its sums lead to ${formatTokens(closing)}, and it ends with ${formatTokens(anchor.closing)}`;
  }
}

async function* movementProblems(receipts: ReceiptReader, anchor: ArchivedMonth) {
  const { accountId, firstSequence, lastSequence } = anchor;
  const digest = createMovementsDigest();
  let credited = ZERO;
  let count = 0;
  let after = firstSequence - 1;
  for (;;) {
    const page = await receipts.read(accountId, {
      after,
      before: lastSequence + 1,
      limit: MOVEMENTS_PAGE,
      order: 'oldest first',
      only: 'movements',
    });
    for (const booked of page) {
      const { receipt, hash: own } = booked;
      if (hash('sha256', receiptBody(receipt), 'hex') !== own) {
        yield `its movement ${receipt.sequence} says something else than when its receipt was hashed`;
      }
      digest.add(booked);
      credited = add(credited, movedBy(receipt));
      count += 1;
    }
    after = page.at(-1)?.receipt.sequence ?? lastSequence;
    if (page.length < MOVEMENTS_PAGE) break;
  }
  if (count === anchor.movements && credited === anchor.credited) {
    if (digest.end().toHex() === anchor.movementsDigest.toHex()) return;
    yield 'its movements have other hashes than when it was made';
    return;
  }
  yield `it has ${anchor.movements} movements of ${formatTokens(anchor.credited)}, and the books ${count} of ${formatTokens(credited)}`;
}

/** SHA-256 over a line per movement: its number and its hash. */
export function createMovementsDigest() {
  const digest = createHash('sha256');
  return {
    add({ receipt, hash: own }: Pick<BookedReceipt, 'hash'> & { receipt: { sequence: number } }) {
      digest.update(`${receipt.sequence} ${own}\n`);
    },
    end: (): Uint8Array => digest.digest(),
  };
}
