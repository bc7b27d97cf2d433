// Restores archived months into the books that they were taken from, newest first, because a chain
// has one cut. Files are verified before the first row is written, and stay where they are. A month of
// which every row is still in the books needs none.

import { isDeepStrictEqual } from 'node:util';
import { type ArchivedMonth, listArchives } from '../../ledger/archive/anchors.ts';
import { hasAllRows, restoreArchive } from '../../ledger/archive/restore.ts';
import { numberedRows } from '../../ledger/archive/rows.ts';
import type { Row } from '../../store/archive/format.ts';
import type { Database } from '../../store/contract.ts';
import { OperationError } from '../error.ts';
import { digestProblems, fileNames, monthFiles } from './files.ts';
import { readMonth } from './read.ts';
import { anchorProblems, verifyMonth } from './verify.ts';

export type RestoreScope = {
  /** This month and every later archived one. */
  readonly month: string;
  /** Of one account only. */
  readonly accountId?: string | undefined;
};

/** In the order of restoring. Throws `archive_not_found`. */
export async function archivesToRestore(
  { db }: Database,
  { month, accountId }: RestoreScope,
): Promise<readonly ArchivedMonth[]> {
  const archives = (await listArchives(db, accountId)).filter((each) => each.month >= month);
  if (archives.length === 0) {
    throw new OperationError(
      'archive_not_found',
      `No month from ${month} on is archived. tollgate archive list shows those that are.`,
    );
  }
  return archives.toReversed();
}

/** All problems of the files of an archive, compared with the books. */
export async function archiveProblems(
  directory: string,
  archive: ArchivedMonth,
): Promise<readonly string[]> {
  const digests = await digestProblems(directory, archive);
  if (digests.some((problem) => problem.endsWith('cannot be read'))) return digests;
  const verified = await verifyMonth(monthFiles(directory, archive));
  return [...digests, ...verified.problems, ...anchorProblems(archive, verified)];
}

/** Throws `archive_damaged` before any change, and `archive_changed` where the books moved on. */
export async function restoreMonth(
  database: Database,
  directory: string,
  archive: ArchivedMonth,
  rest: () => Promise<void>,
): Promise<void> {
  const rows = (await hasAllRows(database.db, archive))
    ? []
    : await provenRows(database, directory, archive);
  if (await restoreArchive(database, archive, rows, { rest })) return;
  throw new OperationError(
    'archive_changed',
    `${archive.month} of ${archive.accountId} is not its last archive any more, or not all of its rows could be written. Nothing was lost. Run the command again.`,
  );
}

/** Throws `archive_damaged`. */
async function provenRows(database: Database, directory: string, archive: ArchivedMonth) {
  const { books } = monthFiles(directory, archive);
  const [problem] = await archiveProblems(directory, archive);
  if (problem !== undefined) throw damaged(archive, problem);
  if (!(await isSameNames(database, books))) {
    throw damaged(archive, 'its texts or prices are not those of this database');
  }
  return requestRows(books);
}

function damaged(archive: ArchivedMonth, problem: string): OperationError {
  return new OperationError(
    'archive_damaged',
    `${fileNames(archive).books} is not restored: ${problem}. Nothing of it was changed.`,
  );
}

async function* requestRows(path: string): AsyncGenerator<readonly Row[]> {
  for await (const portion of readMonth(path)) {
    if (portion.kind === 'rows' && portion.table === 'requests') yield portion.rows;
  }
}

/** Rows refer to texts and prices by number, which another database would give to others. */
async function isSameNames(database: Database, path: string): Promise<boolean> {
  for await (const portion of readMonth(path)) {
    if (portion.kind !== 'rows') continue;
    const { table, rows } = portion;
    if (table !== 'texts' && table !== 'price_versions') continue;
    const numbers = new Set(rows.map(([number]) => Number(number)));
    const own = (await Array.fromAsync(numberedRows(database, table, numbers))).flat();
    if (!isDeepStrictEqual(own.map(comparable), rows.map(comparable))) return false;
  }
  return true;
}

const comparable = (row: Row): readonly unknown[] =>
  row.map((value) => (value instanceof Uint8Array ? value.toHex() : value));
