// Restores archived months into the books that they were taken from, newest first, because a chain
// has one cut. Files are verified before the first row is written, and stay where they are. A month of
// which every row is still in the books needs none.

import { isDeepStrictEqual } from 'node:util';
import { type ArchivedMonth, listArchives } from '../../ledger/archive/anchors.ts';
import { numberedRows } from '../../ledger/archive/copy.ts';
import { hasAllRows, restoreArchive } from '../../ledger/archive/restore.ts';
import { BOOKS, openBooks } from '../../store/archive/books.ts';
import { readRows } from '../../store/archive/rows.ts';
import type { Database } from '../../store/contract.ts';
import { StoreError } from '../../store/error.ts';
import { OperationError } from '../error.ts';
import { digestProblems, fileNames, monthFiles } from './files.ts';
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
  const damage = await digestProblems(directory, archive);
  if (damage.length > 0) return damage;
  try {
    const { problems, totals } = await verifyMonth(monthFiles(directory, archive));
    return [...problems, ...anchorProblems(archive, totals)];
  } catch (error) {
    if (error instanceof StoreError) return [error.message];
    throw error;
  }
}

/** Throws `archive_damaged` before any change, and `archive_changed` where the books moved on. */
export async function restoreMonth(
  database: Database,
  directory: string,
  archive: ArchivedMonth,
  rest: () => Promise<void>,
): Promise<void> {
  const isRestored = (await hasAllRows(database.db, archive))
    ? await restoreArchive(database, archive, [], { rest })
    : await restoreFile(database, directory, archive, rest);
  if (isRestored) return;
  throw new OperationError(
    'archive_changed',
    `${archive.month} of ${archive.accountId} is not its last archive any more, or not all of its rows could be written. Nothing was lost. Run the command again.`,
  );
}

async function restoreFile(
  database: Database,
  directory: string,
  archive: ArchivedMonth,
  rest: () => Promise<void>,
): Promise<boolean> {
  const [problem] = await archiveProblems(directory, archive);
  if (problem !== undefined) throw damaged(archive, problem);
  const books = openBooks(monthFiles(directory, archive).books);
  try {
    if (!(await isSameNames(database, books))) {
      throw damaged(archive, 'its texts or prices are not those of this database');
    }
    return await restoreArchive(database, archive, readRows(books, BOOKS.requests), { rest });
  } finally {
    await books.close();
  }
}

function damaged(archive: ArchivedMonth, problem: string): OperationError {
  return new OperationError(
    'archive_damaged',
    `${fileNames(archive).books} is not restored: ${problem}. Nothing of it was changed.`,
  );
}

/** Rows refer to texts and prices by number, which another database would give to others. */
async function isSameNames(database: Database, books: Database): Promise<boolean> {
  for (const table of [BOOKS.texts, BOOKS.priceVersions]) {
    for await (const rows of readRows(books, table)) {
      const numbers = rows.map(([number]) => Number(number));
      const own = (await Array.fromAsync(numberedRows(database, table, numbers))).flat();
      if (!isDeepStrictEqual(own, rows)) return false;
    }
  }
  return true;
}
