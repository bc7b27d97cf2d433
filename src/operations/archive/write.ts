// Writes the two files of an account's month and verifies them by reading them back: its receipts, as
// a customer exports them, and the rows of the books, for the operator. Changes nothing else.

import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { isoTime } from '../../core/calendar.ts';
import { createIdFilter } from '../../core/id-filter.ts';
import { idTime, monthSpan } from '../../ledger/archive/anchors.ts';
import type { DueMonth } from '../../ledger/archive/due.ts';
import type { NewAnchor } from '../../ledger/archive/record.ts';
import {
  hashOf,
  idBytesOf,
  MONTH_TABLES,
  monthRows,
  monthTable,
  movementOf,
  numberedRows,
  referencesOf,
  requestOf,
} from '../../ledger/archive/rows.ts';
import { createMovementsDigest } from '../../ledger/audit/anchors.ts';
import { receiptPages } from '../../ledger/receipt-slices.ts';
import type { Row } from '../../store/archive/format.ts';
import { writeArchive, writePacked } from '../../store/archive/writer.ts';
import type { Database } from '../../store/contract.ts';
import { requireSpare } from '../../store/disk-reserve.ts';
import { syncFile } from '../../store/sqlite-copy.ts';
import { exportLines } from '../receipt-file.ts';
import { createMonthFolder, digestOf, monthFiles, PART, placeFile } from './files.ts';
import { verifyMonth } from './verify.ts';

export type WriteOptions = {
  readonly database: Database;
  readonly directory: string;
  readonly version: string;
  readonly nowMs: number;
  /** Awaited after each page, so that the machine has time for requests. */
  readonly rest: () => Promise<void>;
  readonly onAside: (path: string) => void;
};

/** A month whose files do not prove it. The message is for operators. */
export class UnprovenMonth extends Error {
  override readonly name = 'UnprovenMonth';
}

/** Throws the system's error, and `UnprovenMonth`. Unfinished files are removed. */
export async function writeMonth(options: WriteOptions, due: DueMonth): Promise<NewAnchor> {
  const { database, directory, nowMs } = options;
  createMonthFolder(directory, due.month);
  const files = monthFiles(directory, due);
  // Nodes that write the same month may be on the same machine.
  const ending = `.${crypto.randomUUID()}${PART}`;
  const parts = { receipts: `${files.receipts}${ending}`, books: `${files.books}${ending}` };
  const rest = async (): Promise<void> => {
    await options.rest();
    await requireSpare(directory);
  };
  try {
    await requireSpare(directory);
    const found = await writeBooks({ ...options, rest }, due, parts.books);
    const pages = resting(receiptPages(database.db, due.accountId, due), rest);
    await writePacked(parts.receipts, exportLines(pages));
    const { totals, problems } = await verifyMonth(parts, options.rest);
    const wrong = [...problems, ...dueProblems(due, totals)];
    if (wrong.length > 0) throw new UnprovenMonth(wrong.slice(0, 3).join('; '));
    const [receipts, books] = [await digestOf(parts.receipts), await digestOf(parts.books)];
    for (const kind of ['receipts', 'books'] as const) {
      const aside = await placeFile(parts[kind], files[kind], nowMs);
      if (aside !== undefined) options.onAside(aside);
    }
    syncFile(dirname(files.books));
    return {
      ...{ account: due.account, accountId: due.accountId, month: due.month },
      ...{ firstSequence: due.first, lastSequence: due.last },
      ...{ requests: totals.requests, movements: totals.movements },
      ...{ opening: totals.openingBalance, closing: totals.closingBalance },
      ...{ credited: totals.credited, debited: totals.debited, loss: totals.loss },
      head: Uint8Array.fromHex(totals.head),
      ...{ receiptsDigest: receipts.sha256, receiptsBytes: receipts.bytes },
      ...{ booksDigest: books.sha256, booksBytes: books.bytes },
      archivedAt: nowMs,
      ...found,
    };
  } catch (error) {
    rmSync(parts.receipts, { force: true });
    rmSync(parts.books, { force: true });
    throw error;
  }
}

/** The chain goes on where the account's previous archive ends. */
function dueProblems(
  { accountId, first, last, start }: DueMonth,
  totals: Awaited<ReturnType<typeof verifyMonth>>['totals'],
): readonly string[] {
  return [
    ...(totals.accountId === accountId ? [] : ['it is of another account']),
    ...(totals.first === first && totals.last === last ? [] : ['receipts are missing']),
    ...(start === undefined || totals.previous === start.head
      ? []
      : ['it does not name the last receipt of the archive before it']),
    ...(totals.openingBalance === (start?.posted ?? 0n)
      ? []
      : ['it does not begin with the balance of the archive before it']),
  ];
}

type Found = Pick<NewAnchor, 'movementsDigest' | 'lastRow' | 'idsFrom' | 'idsTo' | 'ids'>;

async function writeBooks(
  { database, version, rest }: WriteOptions,
  due: DueMonth,
  path: string,
): Promise<Found> {
  const { accountId, month, first, last } = due;
  const numbers = { texts: new Set<number>(), price_versions: new Set<number>() };
  const filter = createIdFilter(last - first + 1);
  const digest = createMovementsDigest();
  let found = { lastRow: 0, idsFrom: 0, idsTo: 0 };

  async function* requests(): AsyncGenerator<readonly Row[]> {
    for await (const rows of resting(monthRows(database, 'requests', due), rest)) {
      for (const row of rows.map(requestOf)) {
        const references = referencesOf(row);
        for (const number of references.texts) numbers.texts.add(number);
        for (const number of references.prices) numbers.price_versions.add(number);
        const id = idBytesOf(row);
        const at = idTime(id);
        filter.add(id);
        found = {
          lastRow: Math.max(found.lastRow, row.number),
          idsFrom: found.lastRow === 0 ? at : Math.min(found.idsFrom, at),
          idsTo: Math.max(found.idsTo, at),
        };
      }
      yield rows;
    }
  }

  async function* movements(): AsyncGenerator<readonly Row[]> {
    for await (const rows of monthRows(database, 'movements', due)) {
      for (const row of rows.map(movementOf)) digest.add({ receipt: row, hash: hashOf(row) });
      yield rows;
    }
  }

  const rowsOf = {
    requests,
    movements,
    texts: () => numberedRows(database, 'texts', numbers.texts),
    price_versions: () => numberedRows(database, 'price_versions', numbers.price_versions),
  };
  await writeArchive(path, {
    madeBy: version,
    // The same bytes when a month is written again after a crash.
    madeAt: isoTime(monthSpan(month).untilMs),
    tables: MONTH_TABLES.map(monthTable),
    rowsOf: ({ name }) => rowsOf[name as keyof typeof rowsOf](),
    ledger: { account: accountId, month, first: String(first), last: String(last) },
  });
  return { ...found, movementsDigest: digest.end(), ids: filter.bits };
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
