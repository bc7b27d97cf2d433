// Archives of other versions: a file of an earlier one lacks columns that were added since, and a
// file of a later one has more.

import { expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { eq, sql } from 'drizzle-orm';
import { listArchives } from '../../../src/ledger/archive/anchors.ts';
import { MONTH_TABLES, monthTable } from '../../../src/ledger/archive/rows.ts';
import { audit } from '../../../src/ledger/audit.ts';
import { digestOf, monthFiles } from '../../../src/operations/archive/files.ts';
import { readMonth } from '../../../src/operations/archive/read.ts';
import { restoreMonth } from '../../../src/operations/archive/restore.ts';
import { verifyMonth } from '../../../src/operations/archive/verify.ts';
import type { Row, TableShape } from '../../../src/store/archive/format.ts';
import { readArchive } from '../../../src/store/archive/reader.ts';
import { writeArchive } from '../../../src/store/archive/writer.ts';
import { archivedMonths } from '../../../src/store/archive-tables.ts';
import { describeOnEachDatabase, dropGuards, temporaryDirectory } from '../../support/database.ts';
import { closeBooks } from '../../support/ledger.ts';
import { archiveAll, BEGIN_MS, live, openPast, type PastEvent, requestRows } from './past.ts';

setDefaultTimeout(60_000);

const DAY_MS = 86_400_000;
const CUT_MS = BEGIN_MS + 130 * DAY_MS;

const EVENTS: readonly PastEvent[] = Array.from({ length: 9 }, (_, at) => ({
  account: 0,
  what: at === 0 ? 'credit' : 'settle',
  afterHours: 100,
}));

/** The file with other tables: each cell is taken by its column's name, or is null. */
async function rewrite(path: string, tables: readonly TableShape[]): Promise<void> {
  const rows = new Map<string, Readonly<Record<string, Row[number]>>[]>();
  const shapes = new Map<string, TableShape>();
  let ledger = {};
  for await (const portion of readArchive(path)) {
    if (portion.kind === 'header') for (const each of portion.tables) shapes.set(each.name, each);
    if (portion.kind === 'end') ledger = portion.ledger;
    if (portion.kind !== 'rows') continue;
    const names = shapes.get(portion.table)?.columns.map(({ name }) => name) ?? [];
    const named = portion.rows.map((row) =>
      Object.fromEntries(row.map((value, at) => [names[at] ?? '', value])),
    );
    rows.set(portion.table, [...(rows.get(portion.table) ?? []), ...named]);
  }
  rmSync(path);
  await writeArchive(path, {
    ...{ madeBy: '0.0.9', madeAt: new Date(CUT_MS).toISOString(), tables, ledger },
    async *rowsOf({ name, columns }) {
      yield (rows.get(name) ?? []).map((row) => columns.map((column) => row[column.name] ?? null));
    },
  });
}

const shapeOf = (name: (typeof MONTH_TABLES)[number]): TableShape => ({
  name,
  columns: monthTable(name).columns,
});

/** Of requests; null in each row of this past. */
const OPTIONAL = 'report';

const OTHERS: readonly [string, readonly TableShape[]][] = [
  ['a table less', MONTH_TABLES.slice(1).map(shapeOf)],
  ['a table more', [...MONTH_TABLES.map(shapeOf), { name: 'later', columns: [] }]],
  ['another column', change((columns) => [...columns, { name: 'later', kind: 'text' }])],
  ['a column less that is never null', change((columns) => columns.slice(1))],
  [
    'a column of another kind',
    change(([first, ...rest]) => (first ? [{ name: first.name, kind: 'bytes' }, ...rest] : [])),
  ],
];

function change(
  work: (columns: TableShape['columns']) => TableShape['columns'],
): readonly TableShape[] {
  return MONTH_TABLES.map(shapeOf).map((shape) =>
    shape.name === 'requests' ? { ...shape, columns: work(shape.columns) } : shape,
  );
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
    return { open, folder, rows, archive, files: monthFiles(folder, archive) };
  }

  test('is verified and restored without the columns that were added since', async () => {
    const { open, folder, rows, archive, files } = await openArchived();
    const { database } = open;
    const earlier = change((columns) => columns.filter(({ name }) => name !== OPTIONAL));
    expect(earlier).not.toEqual(MONTH_TABLES.map(shapeOf));
    await rewrite(files.books, earlier);
    expect((await verifyMonth(files)).problems).toEqual([]);

    // The anchor of the version that made the file has the digest of that file.
    await dropGuards(database);
    const { bytes, sha256 } = await digestOf(files.books);
    const changed = { booksBytes: bytes, booksDigest: sha256 };
    await database.db
      .update(archivedMonths)
      .set(changed)
      .where(eq(archivedMonths.number, archive.number))
      .run();
    await restoreMonth(database, folder, { ...archive, ...changed }, async () => undefined);
    const restored = await requestRows(database);
    expect(restored).toEqual(rows.slice(-restored.length));
    expect(restored.length).toBeGreaterThan(0);
    expect(await audit(database)).toEqual([]);
    await closeBooks(open);
  });

  test.each([...OTHERS])('with %s is refused', async (_, tables) => {
    const { open, files } = await openArchived();
    await rewrite(files.books, tables);
    await expect(Array.fromAsync(readMonth(files.books))).rejects.toThrow(
      'made by version 0.0.9, whose tables this version cannot read',
    );
    await closeBooks(open);
  });

  test('is left to that version, where it has added a column', async () => {
    const folder = mkdtempSync(join(directory, 'archive-'));
    const open = await openPast(directory);
    await live(open, EVENTS, BEGIN_MS);
    await open.database.rows(sql`alter table requests add column later text`);
    const { months, problems } = await archiveAll(open, folder, CUT_MS);
    expect([months, problems]).toMatchObject([0, [{ reason: 'failed' }]]);
    expect(problems[0]?.text).toContain('a later version has added columns to requests');
    // Tests on PostgreSQL empty the tables of one database, and keep their columns.
    await open.database.rows(sql`alter table requests drop column later`);
    await closeBooks(open);
  });
});
