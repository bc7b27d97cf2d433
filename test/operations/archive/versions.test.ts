// Archives of other versions: a file of an earlier one lacks columns that were added since, and a
// file of a later one has more.

import { Database as Connection } from 'bun:sqlite';
import { expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { eq, sql } from 'drizzle-orm';
import { type ArchivedMonth, listArchives } from '../../../src/ledger/archive/anchors.ts';
import { audit } from '../../../src/ledger/audit.ts';
import { digestOf, monthFiles } from '../../../src/operations/archive/files.ts';
import { archiveProblems, restoreMonth } from '../../../src/operations/archive/restore.ts';
import { archivedMonths } from '../../../src/store/archive-tables.ts';
import { describeOnEachDatabase, dropGuards, temporaryDirectory } from '../../support/database.ts';
import { closeBooks, type OpenBooks } from '../../support/ledger.ts';
import { archiveAll, BEGIN_MS, live, openPast, type PastEvent, requestRows } from './past.ts';

setDefaultTimeout(60_000);

const DAY_MS = 86_400_000;
const CUT_MS = BEGIN_MS + 130 * DAY_MS;

const EVENTS: readonly PastEvent[] = Array.from({ length: 9 }, (_, at) => ({
  account: 0,
  what: at === 0 ? 'credit' : 'settle',
  afterHours: 100,
}));

/** The archive as another version wrote it, with the digest of that file in its anchor. */
async function rewritten(
  { database }: OpenBooks,
  folder: string,
  archive: ArchivedMonth,
  statement: string,
): Promise<ArchivedMonth> {
  const path = monthFiles(folder, archive).books;
  using file = new Connection(path);
  file.run(statement);
  const { bytes, sha256 } = await digestOf(path);
  const changed = { booksBytes: bytes, booksDigest: sha256 };
  renameSync(path, monthFiles(folder, { ...archive, ...changed }).books);
  await dropGuards(database);
  const isThis = eq(archivedMonths.number, archive.number);
  await database.db.update(archivedMonths).set(changed).where(isThis).run();
  return { ...archive, ...changed };
}

describeOnEachDatabase('an archive of another version', () => {
  const directory = temporaryDirectory();

  async function openArchived() {
    const folder = mkdtempSync(join(directory, 'archive-'));
    const open = await openPast(directory);
    await live(open, EVENTS, BEGIN_MS);
    const rows = await requestRows(open.database);
    await archiveAll(open, folder, CUT_MS);
    const archive = (await listArchives(open.database.db)).at(-1);
    if (archive === undefined) throw new Error('nothing was archived');
    return { open, folder, rows, archive };
  }

  test('is verified and restored without the columns that were added since', async () => {
    const { open, folder, rows, archive } = await openArchived();
    const { database } = open;
    // Null in each row of this past.
    const earlier = await rewritten(
      open,
      folder,
      archive,
      'alter table requests drop column report',
    );
    expect(await archiveProblems(folder, earlier)).toEqual([]);
    await restoreMonth(database, folder, earlier, async () => undefined);
    const restored = await requestRows(database);
    expect(restored).toEqual(rows.slice(-restored.length));
    expect(restored.length).toBeGreaterThan(0);
    expect(await audit(database)).toEqual([]);
    await closeBooks(open);
  });

  test('is refused where it has a column that this version does not know', async () => {
    const { open, folder, archive } = await openArchived();
    const later = await rewritten(
      open,
      folder,
      archive,
      'alter table movements add column later text',
    );
    const refusal = 'The table movements of the file has columns that this version does not know';
    expect(await archiveProblems(folder, later)).toEqual([expect.stringContaining(refusal)]);
    await expect(restoreMonth(open.database, folder, later, async () => undefined)).rejects.toThrow(
      refusal,
    );
    await closeBooks(open);
  });

  test('is left to that version, where it has added a column', async () => {
    const folder = mkdtempSync(join(directory, 'archive-'));
    await using open = await openPast(directory);
    await live(open, EVENTS, BEGIN_MS);
    await open.database.rows(sql`alter table requests add column later text`);
    const { months, problems } = await archiveAll(open, folder, CUT_MS);
    expect([months, problems]).toMatchObject([0, [{ reason: 'failed' }]]);
    expect(problems[0]?.text).toContain('a later version has added columns to requests');
    // Tests on PostgreSQL empty the tables of one database, and keep their columns.
    await open.database.rows(sql`alter table requests drop column later`);
  });
});
