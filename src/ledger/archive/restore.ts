// Writes the rows of an archived month back into the books, in short steps, and ends with its anchor.
// A chain has one cut, so months are restored from the last one back. A crash in between leaves the
// month in the state `restoring`, and a repetition continues.

import { and, between, count, desc, eq } from 'drizzle-orm';
import { BOOKS } from '../../store/archive/books.ts';
import { createRowWriter } from '../../store/archive/rows.ts';
import type { Row } from '../../store/archive/tables.ts';
import { archivedMonths } from '../../store/archive-tables.ts';
import type { Database, Queries } from '../../store/contract.ts';
import { requests } from '../../store/money-tables.ts';
import type { ArchivedMonth } from './anchors.ts';

const ROWS_A_STEP = 200;

export type RestoreOptions = {
  /** Awaited between two steps, for other writers. */
  readonly rest: () => Promise<void>;
};

/** Whether the books have every request of an archive. */
export async function hasAllRows(db: Queries, archive: ArchivedMonth): Promise<boolean> {
  const { account, firstSequence, lastSequence } = archive;
  const found = await db
    .select({ rows: count() })
    .from(requests)
    .where(
      and(eq(requests.account, account), between(requests.sequence, firstSequence, lastSequence)),
    )
    .get();
  return found?.rows === archive.requests;
}

/** `false` where the books have another state than the caller has read. */
export async function restoreArchive(
  database: Database,
  archive: ArchivedMonth,
  rows: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
  { rest }: RestoreOptions,
): Promise<boolean> {
  const { number, account } = archive;
  const isThis = eq(archivedMonths.number, number);
  const isLast = await database.transaction(async (tx) => {
    const last = await tx
      .select({ number: archivedMonths.number })
      .from(archivedMonths)
      .where(eq(archivedMonths.account, account))
      .orderBy(desc(archivedMonths.firstSequence))
      .limit(1)
      .get();
    if (last?.number !== number) return false;
    await tx.update(archivedMonths).set({ state: 'restoring' }).where(isThis).run();
    return true;
  });
  if (!isLast) return false;
  const { write } = createRowWriter(database, BOOKS.requests, { isRepeated: true });
  for await (const page of rows) {
    for (let from = 0; from < page.length; from += ROWS_A_STEP) {
      const isWritten = await database.transaction(async (tx) => {
        if (!(await isRestoring(tx))) return false;
        await write(page.slice(from, from + ROWS_A_STEP));
        return true;
      });
      if (!isWritten) return false;
      await rest();
    }
  }
  return database.transaction(async (tx) => {
    if (!(await hasAllRows(tx, archive)) || !(await isRestoring(tx))) return false;
    await tx.delete(archivedMonths).where(isThis).run();
    return true;
  });

  /** A restore beside this one may have ended, and the server archived the month again. */
  async function isRestoring(tx: Queries): Promise<boolean> {
    const found = await tx
      .select({ state: archivedMonths.state })
      .from(archivedMonths)
      .where(isThis)
      .get();
    return found?.state === 'restoring';
  }
}
