// Lists in a chosen order, read in pages: each page continues behind the last row of the previous
// one, so every page costs the same.

import { and, asc, desc, eq, gt, lt, or, type SQL, type SQLWrapper } from 'drizzle-orm';

export type Order<Field extends string> = { readonly field: Field; readonly descending: boolean };

/** A row's place in an order: its value, and a second one that orders rows of equal values. */
export type SortPlace = { readonly value: string | number | bigint; readonly tie: string | number };

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
  const behind = descending ? lt : gt;
  const along = descending ? desc : asc;
  const where =
    after && or(behind(value, after.value), and(eq(value, after.value), behind(row, after.tie)));
  return { where, orderBy: [along(value), along(row)] };
}
