// Reads rows out of a database and writes them into one, in portions. Reads run in the caller's
// snapshot, writes in its transaction. Triggers and constraints of the target check every row, as
// they do for a server.

import { and, Placeholder, type SQL, sql } from 'drizzle-orm';
import type { Database, Statement } from '../contract.ts';
import type { ArchiveTable, Row, Value } from './tables.ts';

/** Rows of the first read; later reads adapt to the length of a row. */
const FIRST_READ = 50;
const ROWS_A_READ = 500;
const CHARACTERS_A_READ = 500_000;

/** A row of an archived month may be as long as thousands of others: two bytes for each request. */
const mostRows = ({ name }: ArchiveTable): number => (name === 'archived_months' ? 1 : ROWS_A_READ);

/** Rows per statement. */
const ROWS_A_WRITE = 50;

/** Triggers require that a hold is inserted without progress and then updated. */
const HOLD_BEGINS: Readonly<Record<string, Value>> = {
  checkpoint_at: null,
  output_tokens: 0n,
  reasoning_tokens: 0n,
};

/** Some rows of a table: with a key of one column, those behind a value of it. */
type Part = { readonly where: SQL; readonly after?: number };

/** The rows of a table in the order of insertion or, where that does not matter, of their keys. */
export async function* readRows(
  database: Database,
  table: ArchiveTable,
  part?: Part,
): AsyncGenerator<readonly Row[]> {
  const order = table.key;
  const names = sql.join(
    order.map((name) => sql.identifier(name)),
    sql`, `,
  );
  const columns = sql.join(
    [...new Set([...table.columns, ...order])].map((name) => sql.identifier(name)),
    sql`, `,
  );
  const behind = (values: SQL): SQL => sql`(${names}) > (${values})`;
  let after = part?.after === undefined ? undefined : behind(sql`${part.after}`);
  const most = mostRows(table);
  let limit = Math.min(FIRST_READ, most);
  for (;;) {
    const found = await database.rows<Readonly<Record<string, unknown>>>(
      sql`select ${columns} from ${sql.identifier(table.name)} where ${and(sql`1 = 1`, part?.where, after)}
        order by ${names} limit ${limit}`,
    );
    const last = found.at(-1);
    if (last === undefined) return;
    const rows = found.map((row) => rawRow(row, table));
    yield rows;
    if (rows.length < limit) return;
    limit = Math.min(most, limitAfter(rows));
    const values = sql.join(
      order.map((name) => sql`${last[name]}`),
      sql`, `,
    );
    after = behind(values);
  }
}

/** Assumes that the next rows are about as long as these. */
function limitAfter(rows: readonly Row[]): number {
  let characters = 1;
  for (const row of rows) {
    for (const value of row) characters += typeof value === 'bigint' ? 8 : (value?.length ?? 0);
  }
  const fitting = Math.floor((rows.length * CHARACTERS_A_READ) / characters);
  return Math.min(ROWS_A_READ, Math.max(1, fitting));
}

export async function hasRows(
  { rows }: Database,
  { name, replaced }: ArchiveTable,
): Promise<boolean> {
  const isUsed = replaced === undefined ? sql`1 = 1` : sql`${sql.identifier(replaced)} <> 0`;
  return (
    (await rows(sql`select 1 from ${sql.identifier(name)} where ${isUsed} limit 1`)).length > 0
  );
}

/** The cells of a row as the database has them, in the order of the table's columns. */
function rawRow(row: Readonly<Record<string, unknown>>, { columns }: ArchiveTable): Row {
  return columns.map((name) => rawValue(row[name]));
}

function rawValue(value: unknown): Value {
  return typeof value === 'number' ? BigInt(value) : (value as Value);
}

/** Writes rows into one table; repeated ones are skipped where they may be there already. */
export function createRowWriter(
  database: Database,
  table: ArchiveTable,
  { isRepeated = false } = {},
) {
  const insert = new Map<number, Statement<Values, []>>();
  const insertOf = (count: number): Statement<Values, []> =>
    insert.getOrInsertComputed(count, () => database.prepare(insertion(table, count, isRepeated)));
  const progress =
    table.name === 'open_holds' ? database.prepare<Values>(holdProgress(table)) : undefined;

  return {
    async write(rows: readonly Row[]): Promise<void> {
      for (let from = 0; from < rows.length; from += ROWS_A_WRITE) {
        const some = rows.slice(from, from + ROWS_A_WRITE);
        const begun = progress === undefined ? some : some.map((row) => asBegun(row, table));
        await insertOf(some.length).run(named(begun.flat()));
        // Batched, because a round trip takes longer than the update.
        if (progress !== undefined) {
          await Promise.all(some.map((row) => progress.run(named(row))));
        }
      }
    },
    /** Call it after the last row: the database then continues from the last number. */
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

/** Values by index, as the placeholders are named. */
const named = (values: Row): Values => Object.fromEntries(values.map((value, at) => [at, value]));

const place = (at: number): Placeholder => new Placeholder(String(at));

function insertion(table: ArchiveTable, count: number, isRepeated: boolean) {
  const { name, columns } = table;
  const names = columns.map((column) => `"${column}"`).join(', ');
  const row = `(${columns.map(() => '?').join(', ')})`;
  const text = `insert into "${name}" (${names}) values ${Array(count).fill(row).join(', ')}${onConflict(table, isRepeated)}`;
  const params = Array.from({ length: count * columns.length }, (_, at) => place(at));
  return { toSQL: () => ({ sql: text, params }) };
}

function onConflict({ key, replaced }: ArchiveTable, isRepeated: boolean): string {
  if (replaced !== undefined) {
    return ` on conflict (${key.join(', ')}) do update set "${replaced}" = excluded."${replaced}"`;
  }
  return isRepeated ? ' on conflict do nothing' : '';
}

/** Updates a new hold to its exported state. */
function holdProgress({ columns }: ArchiveTable) {
  const at = (name: string): Placeholder => place(columns.indexOf(name));
  const changed = Object.keys(HOLD_BEGINS);
  const text = `update "open_holds" set ${changed.map((name) => `"${name}" = ?`).join(', ')} where "id" = ?`;
  return { toSQL: () => ({ sql: text, params: [...changed, 'id'].map(at) }) };
}

function asBegun(row: Row, { columns }: ArchiveTable): Row {
  return columns.map((name, at) => {
    const begins = HOLD_BEGINS[name];
    return begins === undefined ? (row[at] ?? null) : begins;
  });
}
