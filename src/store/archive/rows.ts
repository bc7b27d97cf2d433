// The rows of a database, in portions, on their way into an archive and out of one. Reads belong to the
// caller's snapshot and writes to its transaction. Triggers and constraints of the target hold for
// every row, as for those that a server writes.

import { Placeholder, type SQL, sql } from 'drizzle-orm';
import type { Database, Statement } from '../contract.ts';
import type { Row, Value } from './format.ts';
import type { ArchiveTable } from './tables.ts';

/** Rows that are read together: as many as make about so much text. */
const FIRST_READ = 50;
const ROWS_A_READ = 500;
const CHARACTERS_A_READ = 500_000;

/** Rows that are written in one statement. */
const ROWS_A_WRITE = 50;

/** A hold is added without progress and gets it afterwards, as its triggers demand. */
const HOLD_BEGINS: Readonly<Record<string, Value>> = {
  checkpoint_at: null,
  output_tokens: 0n,
  reasoning_tokens: 0n,
};

/** All rows of a table, in the order in which they were added or, where nobody asks, of their keys. */
export async function* readRows(
  database: Database,
  table: ArchiveTable,
): AsyncGenerator<readonly Row[]> {
  const order = table.key;
  const names = sql.join(
    order.map((name) => sql.identifier(name)),
    sql`, `,
  );
  const columns = sql.join(
    [...new Set([...table.columns.map(({ name }) => name), ...order])].map((name) =>
      sql.identifier(name),
    ),
    sql`, `,
  );
  let after: SQL = sql``;
  let limit = FIRST_READ;
  for (;;) {
    const found = await database.rows<Readonly<Record<string, unknown>>>(
      sql`select ${columns} from ${sql.identifier(table.name)} ${after} order by ${names} limit ${limit}`,
    );
    const last = found.at(-1);
    if (last === undefined) return;
    const rows = found.map((row) => table.columns.map(({ name }) => rawValue(row[name])));
    yield rows;
    if (rows.length < limit) return;
    limit = limitAfter(rows);
    const values = sql.join(
      order.map((name) => sql`${last[name]}`),
      sql`, `,
    );
    after = sql`where (${names}) > (${values})`;
  }
}

/** The next rows will be about as long as these. */
function limitAfter(rows: readonly Row[]): number {
  let characters = 1;
  for (const row of rows) {
    for (const value of row) characters += typeof value === 'bigint' ? 8 : (value?.length ?? 0);
  }
  const fitting = Math.floor((rows.length * CHARACTERS_A_READ) / characters);
  return Math.min(ROWS_A_READ, Math.max(1, fitting));
}

export async function hasRows({ rows }: Database, { name }: ArchiveTable): Promise<boolean> {
  return (await rows(sql`select 1 from ${sql.identifier(name)} limit 1`)).length > 0;
}

function rawValue(value: unknown): Value {
  return typeof value === 'number' ? BigInt(value) : (value as Value);
}

/** Writes rows into one table. */
export function createRowWriter(database: Database, table: ArchiveTable) {
  const insert = new Map<number, Statement<Values, []>>();
  const insertOf = (count: number): Statement<Values, []> => {
    const known = insert.get(count) ?? database.prepare<Values>(insertion(table, count));
    insert.set(count, known);
    return known;
  };
  const progress =
    table.name === 'open_holds' ? database.prepare<Values>(holdProgress(table)) : undefined;

  return {
    async write(rows: readonly Row[]): Promise<void> {
      for (let from = 0; from < rows.length; from += ROWS_A_WRITE) {
        const some = rows.slice(from, from + ROWS_A_WRITE);
        const begun = progress === undefined ? some : some.map((row) => asBegun(row, table));
        await insertOf(some.length).run(named(begun.flat()));
        // Not one by one: the way to the database is longer than its work.
        if (progress !== undefined) {
          await Promise.all(some.map((row) => progress.run(named(row))));
        }
      }
    },
    /** When all rows are there: the database counts on from the last number. */
    async finish(): Promise<void> {
      const column = table.numbered;
      if (column === undefined || database.dialect !== 'postgres') return;
      const name = sql.identifier(column);
      await database.rows(sql`select setval(pg_get_serial_sequence(${`"${table.name}"`}, ${column}),
        (select greatest(coalesce(max(${name}), 0), 1) from ${sql.identifier(table.name)}),
        exists (select 1 from ${sql.identifier(table.name)}))`);
    },
  };
}

type Values = Readonly<Record<string, Value>>;

/** Values by their number, as the placeholders are named. */
const named = (values: Row): Values => Object.fromEntries(values.map((value, at) => [at, value]));

const place = (at: number): Placeholder => new Placeholder(String(at));

function insertion({ name, columns }: ArchiveTable, count: number) {
  const names = columns.map((column) => `"${column.name}"`).join(', ');
  const row = `(${columns.map(() => '?').join(', ')})`;
  const text = `insert into "${name}" (${names}) values ${Array(count).fill(row).join(', ')}`;
  const params = Array.from({ length: count * columns.length }, (_, at) => place(at));
  return { toSQL: () => ({ sql: text, params }) };
}

/** Brings a hold from its beginning to where it stands. */
function holdProgress({ columns }: ArchiveTable) {
  const at = (name: string): Placeholder =>
    place(columns.findIndex((column) => column.name === name));
  const changed = Object.keys(HOLD_BEGINS);
  const text = `update "open_holds" set ${changed.map((name) => `"${name}" = ?`).join(', ')} where "id" = ?`;
  return { toSQL: () => ({ sql: text, params: [...changed, 'id'].map(at) }) };
}

function asBegun(row: Row, { columns }: ArchiveTable): Row {
  return columns.map(({ name }, at) => {
    const begins = HOLD_BEGINS[name];
    return begins === undefined ? (row[at] ?? null) : begins;
  });
}
