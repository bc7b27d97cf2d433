// Binds the values of prepared statements: the SQL is made once, and each run only orders its
// values. Drizzle's own prepared queries would add half of the time that SQLite itself takes for
// the ledger.

import { getTableColumns, is, Param, Placeholder, type SQL, sql } from 'drizzle-orm';
import { SQLiteAsyncDialect, type SQLiteColumn, type SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { Query } from './contract.ts';

type Slot = {
  readonly name: string;
  /** The column's encoder, where the placeholder stands for a column's value. */
  readonly encode: ((value: unknown) => unknown) | undefined;
};

/** Orders the named values of one run by the query's parameters. */
export function createBinder(params: readonly unknown[]): (values: object) => unknown[] {
  const slots = params.map(slotOf);
  return (values) => {
    const named = values as Readonly<Record<string, unknown>>;
    const bound: unknown[] = [];
    for (const { name, encode } of slots) {
      const value = named[name];
      // SQLite would silently bind a missing value as NULL.
      if (value === undefined) throw new TypeError(`No value for ${name} was given.`);
      bound.push(encode === undefined || value === null ? value : encode(value));
    }
    return bound;
  };
}

function slotOf(parameter: unknown): Slot {
  if (is(parameter, Placeholder)) return { name: parameter.name, encode: undefined };
  if (is(parameter, Param) && is(parameter.value, Placeholder)) {
    const { encoder, value } = parameter;
    return { name: value.name, encode: (given) => encoder.mapToDriverValue(given) };
  }
  throw new TypeError(
    'A prepared statement takes placeholders only; write constants into its SQL.',
  );
}

/** One placeholder per column, with its name: such a statement takes a whole row. */
export function placeholders<T extends SQLiteTable>(
  table: T,
): Record<keyof T['$inferInsert'], Placeholder> {
  const names = Object.keys(getTableColumns(table));
  // The return type of Object.fromEntries loses the keys.
  return Object.fromEntries(names.map((name) => [name, sql.placeholder(name)])) as Record<
    keyof T['$inferInsert'],
    Placeholder
  >;
}

type Columns = Readonly<Record<string, SQLiteColumn>>;

/** The names of columns, for a select. */
export function list(columns: Columns): SQL {
  return sql.join(
    Object.values(columns).map(({ name }) => sql.identifier(name)),
    sql`, `,
  );
}

/** The values that `list` names, for an insert of a whole row. */
export function slots(columns: Columns): SQL {
  return sql.join(
    Object.entries(columns).map(([name, column]) => sql.param(sql.placeholder(name), column)),
    sql`, `,
  );
}

/** The columns of a rejected insert, to update the row that was there. */
export function inserted<Own extends Columns>(columns: Own): Readonly<Record<keyof Own, SQL>> {
  // The return type of Object.fromEntries loses the keys.
  return Object.fromEntries(
    Object.entries(columns).map(([key, { name }]) => [key, sql`excluded.${sql.identifier(name)}`]),
  ) as Record<keyof Own, SQL>;
}

/** A row selected by `list`, with decoded values. */
export function decode<Row>(columns: Columns, row: readonly unknown[]): Row {
  return Object.fromEntries(
    Object.entries(columns).map(([key, column], index) => [
      key,
      row[index] === null ? null : column.mapFromDriverValue(row[index]),
    ]),
  ) as Row;
}

const DIALECT = new SQLiteAsyncDialect();

/** Raw SQL to be prepared. */
export function written(query: SQL): Query {
  return { toSQL: () => DIALECT.sqlToQuery(query) };
}
