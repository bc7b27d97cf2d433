// Runs a query that Drizzle has written with SQLite's own statement: the SQL is made once, and each
// run only puts its values in order. Called where every request passes; everywhere else Drizzle's
// own prepared queries do, which cost half as much again as what SQLite itself does for the ledger.
// The series read by it too, thousands of rows at a time.

import type { SQLQueryBindings } from 'bun:sqlite';
import { getTableColumns, is, Param, Placeholder, sql } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { Database } from './database.ts';

/** A query of Drizzle's before its `prepare()`. */
type Query = { readonly toSQL: () => { readonly sql: string; readonly params: unknown[] } };

/** `Values` names what the query's placeholders take, `Row` what it returns, column by column. */
export type Statement<Values, Row extends readonly unknown[]> = {
  /** Answers how many rows were written. */
  readonly run: (values: Values) => number;
  /** The first row, if there is one. */
  readonly get: (values: Values) => Row | undefined;
  /** All rows, for reads of thousands. */
  readonly all: (values: Values) => readonly Row[];
};

type Slot = {
  readonly name: string;
  /** What the column makes of a value, where the placeholder stands for a column's value. */
  readonly encode: ((value: unknown) => unknown) | undefined;
};

/** Prepares `query` on the database's connection. Its tables must exist. */
export function prepareStatement<Values extends object, Row extends readonly unknown[] = []>(
  { connection }: Pick<Database, 'connection'>,
  query: Query,
): Statement<Values, Row> {
  const { sql: text, params } = query.toSQL();
  const slots = params.map(slotOf);
  const statement = connection.prepare<Row, SQLQueryBindings[]>(text);
  const bind = (values: Values): SQLQueryBindings[] => {
    const named = values as Readonly<Record<string, unknown>>;
    return slots.map(({ name, encode }) => {
      const value = named[name];
      // A missing value would be bound as NULL without a word.
      if (value === undefined) throw new TypeError(`No value for ${name} was given.`);
      return (encode === undefined ? value : encode(value)) as SQLQueryBindings;
    });
  };
  return {
    run: (values) => Number(statement.run(...bind(values)).changes),
    get: (values) => statement.values(...bind(values))[0] as Row | undefined,
    all: (values) => statement.values(...bind(values)) as unknown as readonly Row[],
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

/** One placeholder a column, named like it: such a statement takes a whole row. */
export function placeholders<T extends SQLiteTable>(
  table: T,
): Record<keyof T['$inferInsert'], Placeholder> {
  const names = Object.keys(getTableColumns(table));
  // Object.fromEntries forgets the keys that it was given.
  return Object.fromEntries(names.map((name) => [name, sql.placeholder(name)])) as Record<
    keyof T['$inferInsert'],
    Placeholder
  >;
}
