// Writes the two files of an account's month and verifies them by reading them back: its receipts, as
// a customer exports them, and the rows of the books, for the operator. Changes nothing else.

import { renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { copyMonth } from '../../ledger/archive/copy.ts';
import type { DueMonth } from '../../ledger/archive/due.ts';
import type { NewAnchor } from '../../ledger/archive/record.ts';
import { receiptPages } from '../../ledger/receipt-slices.ts';
import { createBooks } from '../../store/archive/books.ts';
import type { Database } from '../../store/contract.ts';
import { requireSpare } from '../../store/disk-reserve.ts';
import { writePacked } from '../../store/packed-file.ts';
import { syncFile } from '../../store/sqlite-copy.ts';
import { exportLines } from '../receipt-file.ts';
import { createMonthFolder, digestOf, monthFiles, PART } from './files.ts';
import { verifyMonth } from './verify.ts';

export type WriteOptions = {
  readonly database: Database;
  readonly directory: string;
  readonly nowMs: number;
  /** Awaited after each page, so that the machine has time for requests. */
  readonly rest: () => Promise<void>;
};

/** A month whose files do not prove it. The message is for operators. */
export class UnprovenMonth extends Error {
  override readonly name = 'UnprovenMonth';
}

/** Throws the system's error, and `UnprovenMonth`. Unfinished files are removed. */
export async function writeMonth(options: WriteOptions, due: DueMonth): Promise<NewAnchor> {
  const { database, directory, nowMs } = options;
  createMonthFolder(directory, due.month);
  // Nodes that write the same month may be on the same machine.
  const part = join(directory, due.month, `${due.accountId}.${crypto.randomUUID()}`);
  const parts = { receipts: `${part}.receipts${PART}`, books: `${part}.books${PART}` };
  const rest = async (): Promise<void> => {
    await options.rest();
    await requireSpare(directory);
  };
  try {
    await requireSpare(directory);
    const copied = await writeBooks({ database, rest }, due, parts.books);
    syncFile(parts.books);
    const pages = resting(receiptPages(database.db, due.accountId, due), rest);
    await writePacked(parts.receipts, exportLines(pages));
    const { totals, problems } = await verifyMonth(parts, options.rest);
    const isDue = totals.first === due.first && totals.last === due.last;
    const wrong = isDue ? problems : [...problems, 'receipts are missing'];
    if (wrong.length > 0) throw new UnprovenMonth(wrong.slice(0, 3).join('; '));
    const [receipts, books] = [await digestOf(parts.receipts), await digestOf(parts.books)];
    const anchor: NewAnchor = {
      account: due.account,
      accountId: due.accountId,
      month: due.month,
      firstSequence: due.first,
      lastSequence: due.last,
      requests: totals.requests,
      movements: totals.movements,
      opening: totals.openingBalance,
      closing: totals.closingBalance,
      credited: totals.credited,
      debited: totals.debited,
      loss: totals.loss,
      head: Uint8Array.fromHex(totals.head),
      receiptsDigest: receipts.sha256,
      receiptsBytes: receipts.bytes,
      booksDigest: books.sha256,
      booksBytes: books.bytes,
      archivedAt: nowMs,
      ...copied,
    };
    const files = monthFiles(directory, anchor);
    renameSync(parts.receipts, files.receipts);
    renameSync(parts.books, files.books);
    syncFile(dirname(files.books));
    return anchor;
  } catch (error) {
    rmSync(parts.receipts, { force: true });
    rmSync(parts.books, { force: true });
    throw error;
  }
}

async function writeBooks(
  { database, rest }: Pick<WriteOptions, 'database' | 'rest'>,
  due: DueMonth,
  path: string,
) {
  const books = createBooks(path);
  try {
    return await books.transaction(() => copyMonth(database, books, due, rest));
  } finally {
    await books.close();
  }
}

async function* resting<Page>(
  pages: AsyncIterable<Page>,
  rest: () => Promise<void>,
): AsyncGenerator<Page> {
  for await (const page of pages) {
    yield page;
    await rest();
  }
}
