// Copies the receipts of a month from the books of an account into a file of its own: the rows, what they
// refer to, and the balances at both ends. Rows of the books never change, so they are read page by
// page without a transaction.

import { getTableColumns, type SQL, sql } from 'drizzle-orm';
import { requestIdBytes } from '../../core/id.ts';
import { createIdFilter } from '../../core/id-filter.ts';
import { ZERO } from '../../core/money.ts';
import { shapeNumber } from '../../core/shape.ts';
import { BOOKS } from '../../store/archive/books.ts';
import { createRowWriter, readRows } from '../../store/archive/rows.ts';
import type { ArchiveTable, Row } from '../../store/archive/tables.ts';
import { archivedMonths } from '../../store/archive-tables.ts';
import type { Database, Queries } from '../../store/contract.ts';
import { balances, movements, requests } from '../../store/money-tables.ts';
import { decode } from '../../store/statement.ts';
import { createMovementsDigest } from '../audit/anchors.ts';
import { hashText } from '../receipts.ts';
import { type BooksStart, idTime } from './anchors.ts';
import type { DueMonth } from './due.ts';
import type { NewAnchor } from './record.ts';

const NUMBERS_AT_ONCE = 500;

const REQUEST = getTableColumns(requests);
const MOVEMENT = getTableColumns(movements);

/** What an anchor has of the rows. */
type Copied = Pick<NewAnchor, 'movementsDigest' | 'lastRow' | 'idsFrom' | 'idsTo' | 'ids'>;

/** `rest` is awaited after each page. Throws where a receipt of the month is missing. */
export async function copyMonth(
  database: Database,
  books: Database,
  due: DueMonth,
  rest: () => Promise<void>,
): Promise<Copied> {
  const { account, accountId, first, last, start } = due;
  const numbers = { texts: new Set<number>(), prices: new Set<number>() };
  const filter = createIdFilter(last - first + 1);
  const digest = createMovementsDigest();
  let found = { lastRow: 0, idsFrom: 0, idsTo: 0 };
  let end: Pick<typeof requests.$inferSelect, 'posted' | 'hash' | 'sequence'> | undefined;

  async function* copied(table: ArchiveTable, rows: AsyncIterable<readonly Row[]>) {
    await requireColumns(database, table);
    const { write } = createRowWriter(books, table);
    for await (const page of rows) {
      await write(page);
      yield* page;
      await rest();
    }
  }

  for await (const cells of copied(BOOKS.requests, monthRows(database, BOOKS.requests, due))) {
    const row = decode<typeof requests.$inferSelect>(REQUEST, cells);
    addReferences(row, numbers);
    const id = requestIdBytes(row.id);
    const at = idTime(id);
    filter.add(id);
    found = {
      lastRow: Math.max(found.lastRow, row.number),
      idsFrom: found.lastRow === 0 ? at : Math.min(found.idsFrom, at),
      idsTo: Math.max(found.idsTo, at),
    };
    end = row;
  }
  for await (const cells of copied(BOOKS.movements, monthRows(database, BOOKS.movements, due))) {
    const row = decode<typeof movements.$inferSelect>(MOVEMENT, cells);
    digest.add({ receipt: row, hash: hashText(row.hash) });
    if (row.sequence > (end?.sequence ?? 0)) end = row;
  }
  for (const [table, own] of [
    [BOOKS.texts, numbers.texts],
    [BOOKS.priceVersions, numbers.prices],
  ] as const) {
    for await (const _ of copied(table, numberedRows(database, table, own)));
  }
  if (end?.sequence !== last) throw new Error(`receipt ${last} is not in the books`);
  const { posted, hash } = end;
  const balance = { posted, receipted: posted, held: ZERO, sequence: last, head: hash };
  await books.db
    .insert(balances)
    .values({ number: account, accountId, ...balance })
    .run();
  if (start !== undefined) await writeStart(books.db, account, start);
  return { ...found, movementsDigest: digest.end(), ids: filter.bits };
}

/** The requests or movements of an account within a month, in the order of the chain. */
function monthRows(database: Database, table: ArchiveTable, { account, first, last }: DueMonth) {
  const where = sql`account = ${account} and sequence <= ${last}`;
  return readRows(database, { ...table, key: ['sequence'] }, { where, after: first - 1 });
}

/** While an upgrade is rolling, the database may have a column that this version would not archive. */
async function requireColumns({ rows }: Database, { name, columns }: ArchiveTable): Promise<void> {
  const [row = {}] = await rows<object>(sql`select * from ${sql.identifier(name)} limit 1`);
  if (Object.keys(row).length <= columns.length) return;
  throw new Error(`a later version has added columns to ${name}, and will archive them`);
}

/** The rows of texts or prices with these numbers. */
export async function* numberedRows(
  database: Database,
  table: ArchiveTable,
  numbers: Iterable<number>,
): AsyncGenerator<readonly Row[]> {
  const all = [...numbers].sort((one, other) => one - other);
  for (let from = 0; from < all.length; from += NUMBERS_AT_ONCE) {
    const some = all.slice(from, from + NUMBERS_AT_ONCE);
    const list: SQL = sql.join(
      some.map((number) => sql`${number}`),
      sql`, `,
    );
    yield* readRows(database, table, { where: sql`number in (${list})` });
  }
}

/** The texts and prices that a request refers to. */
function addReferences(
  { key, model, upstream, modelServed, report, attempts, price, priceServed }: RequestRow,
  numbers: { readonly texts: Set<number>; readonly prices: Set<number> },
): void {
  const shapes = [report, attempts].map((packed) => packed && shapeNumber(packed));
  for (const number of [key, model, upstream, modelServed, ...shapes]) {
    if (number != null) numbers.texts.add(number);
  }
  numbers.prices.add(price);
  if (priceServed !== null) numbers.prices.add(priceServed);
}

type RequestRow = typeof requests.$inferSelect;

/** Where the month begins, as if all that is before it were one archived month. */
async function writeStart(db: Queries, account: number, start: BooksStart): Promise<void> {
  const { month, sequence, posted, head } = start;
  const none = new Uint8Array();
  await db.insert(archivedMonths).values({
    account,
    month,
    firstSequence: 1,
    lastSequence: sequence,
    requests: sequence,
    movements: 0,
    opening: ZERO,
    credited: posted,
    debited: ZERO,
    loss: ZERO,
    closing: posted,
    head,
    movementsDigest: none,
    receiptsDigest: none,
    receiptsBytes: 0,
    booksDigest: none,
    booksBytes: 0,
    lastRow: 0,
    archivedAt: 0,
    previous: null,
    hash: none,
    state: 'removed',
    idsFrom: 0,
    idsTo: 0,
    ids: none,
  });
}
