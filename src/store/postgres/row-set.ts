// Passes rows as parameters of one statement: one array per column. Batches of any size share one
// statement, which PostgreSQL plans once.

import { type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';

/** One column of the set. */
export type SetColumn = {
  readonly name: string;
  /** A PostgreSQL type. A narrower table column accepts the values that fit. */
  readonly type: 'bigint' | 'text' | 'bytea' | 'xid';
  readonly encode?: (value: unknown) => unknown;
};

export type RowSet<Row> = {
  /** The names of its columns. */
  readonly names: SQL;
  /** The rows, as a table with the name of the set. */
  readonly rows: SQL;
  /** The number of rows. */
  readonly count: SQL;
  readonly bind: (rows: readonly Row[]) => Readonly<Record<string, string>>;
};

/** `name` distinguishes the sets of a statement. */
export function rowSet<Key extends string>(
  name: string,
  columns: Readonly<Record<Key, SetColumn>>,
): RowSet<Readonly<Record<Key, unknown>>> {
  const all = (Object.entries(columns) as [Key, SetColumn][]).map(([key, column]) => ({
    key,
    column,
    placeholder: `${name} ${key}`,
    identifier: sql.raw(`"${column.name}"`),
  }));
  const [first] = all;
  if (first === undefined) throw new TypeError(`The set ${name} has no columns.`);
  const array = ({ column: { type }, placeholder }: typeof first): SQL =>
    sql`cast(${sql.placeholder(placeholder)} as ${sql.raw(type)}[])`;
  const names = sql.join(
    all.map(({ identifier }) => identifier),
    sql`, `,
  );
  const arrays = sql.join(all.map(array), sql`, `);
  return {
    names,
    rows: sql`unnest(${arrays}) as ${sql.raw(name)} (${names})`,
    count: sql`cardinality(${array(first)})`,
    bind: (rows) =>
      Object.fromEntries(
        all.map(({ key, column, placeholder }) => [
          placeholder,
          arrayOf(rows.map((row) => encode(column, row[key]))),
        ]),
      ),
  };
}

/** The columns of a table, encoded as its rows have them. */
export function setColumns<Columns extends Readonly<Record<string, SQLiteColumn>>>(
  columns: Columns,
): Readonly<Record<keyof Columns & string, SetColumn>> {
  const all = Object.entries(columns).map(([key, column]): [string, SetColumn] => {
    const type = TYPES[column.getSQLType()] ?? 'text';
    return [key, { name: column.name, type, encode: (value) => column.mapToDriverValue(value) }];
  });
  // The return type of Object.fromEntries loses the keys.
  return Object.fromEntries(all) as Record<string, SetColumn> as never;
}

const TYPES: Readonly<Record<string, SetColumn['type']>> = { integer: 'bigint', blob: 'bytea' };

function encode(column: SetColumn, value: unknown): unknown {
  return value === null || column.encode === undefined ? value : column.encode(value);
}

/** An array in PostgreSQL's text format. */
export function arrayOf(values: readonly unknown[]): string {
  return `{${values.map(elementOf).join(',')}}`;
}

function elementOf(value: unknown): string {
  if (value === null) return 'NULL';
  if (typeof value === 'string') return `"${value.replaceAll(/["\\]/g, '\\$&')}"`;
  if (value instanceof Uint8Array) return `"\\\\x${value.toHex()}"`;
  return String(value);
}
