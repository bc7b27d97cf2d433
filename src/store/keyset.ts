// Lists in a chosen order, read in pages: each page continues behind the last row of the previous
// one, so every page costs the same.

import { asc, bindIfParam, desc, type SQL, type SQLWrapper, sql } from 'drizzle-orm';

export type Order<Field extends string> = { readonly field: Field; readonly descending: boolean };

/** A row's place in an order: its value, and a second one that orders rows of equal values. */
export type SortPlace = { readonly value: string | number | bigint; readonly tie: number };

export type SortedPage<Field extends string> = {
  readonly limit: number;
  readonly order: Order<Field>;
  /** The rows behind this place; the first ones if undefined. */
  readonly after: SortPlace | undefined;
};

/**
 * The order and the condition of one page. `value` and `tie` are never null (use `coalesce`), and no
 * two rows share both.
 */
export function pageBy<Field extends string>(
  values: Readonly<Record<Field, SQLWrapper>>,
  tie: SQLWrapper,
  { order: { field, descending }, after }: SortedPage<Field>,
): { readonly where: SQL | undefined; readonly orderBy: readonly [SQL, SQL] } {
  const value = values[field].getSQL();
  const row = tie.getSQL();
  const along = descending ? desc : asc;
  const beyond = descending ? isBefore : isAfter;
  const where = after && beyond([value, row], [after.value, after.tie]);
  return { where, orderBy: [along(value), along(row)] };
}

type Pair<T> = readonly [value: T, tie: T];

/**
 * Whether a row lies before a place in the ascending order of two columns. The same condition
 * written with `or` makes SQLite scan the order from its beginning.
 */
export function isBefore(columns: Pair<SQLWrapper>, place: Pair<unknown>): SQL {
  return sql`(${columns[0]}, ${columns[1]}) < ${bound(columns, place)}`;
}

/** Whether a row lies after a place in the ascending order of two columns. */
export function isAfter(columns: Pair<SQLWrapper>, place: Pair<unknown>): SQL {
  return sql`(${columns[0]}, ${columns[1]}) > ${bound(columns, place)}`;
}

function bound([value, tie]: Pair<SQLWrapper>, place: Pair<unknown>): SQL {
  return sql`(${bindIfParam(place[0], value)}, ${bindIfParam(place[1], tie)})`;
}
