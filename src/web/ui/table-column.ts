// What a table consists of: columns with their place on a card, and the order of the rows.

import type { ComponentChildren } from 'preact';
import type { Sorting } from './sorting.ts';

/**
 * The place of a column on a card, which replaces the row below 600 px:
 *
 *   title     first line, at the start
 *   value     first line, at the end: the number that matters, such as the cost
 *   detail    second line; a number has its label before it
 *   labelled  the same, with its label before any value
 *   state     second line, at the end: a badge
 *   hidden    not on the card
 */
export type CardPlace = 'title' | 'value' | 'detail' | 'labelled' | 'state' | 'hidden';

export type Column<Row> = {
  /** Empty for a column of buttons, which gets a line of its own on a card. */
  readonly label: string;
  readonly show: (row: Row) => ComponentChildren;
  /** Aligns numbers to the end and pins the last ones, so that they are visible at every width. */
  readonly end?: boolean;
  /** `whole` text is never cut, and a `name` only beyond some characters. */
  readonly fit?: 'whole' | 'name';
  /** Long text that may wrap. Other text is cut with an ellipsis and has the whole text as title. */
  readonly wrap?: boolean;
  /** The sort key, sorted in the browser: only if all rows are loaded. */
  readonly sortBy?: (row: Row) => string | number | bigint;
  /** The list's sort field on the server; the list needs `useSort`. */
  readonly sort?: string;
  /** Default: `title` for the first column, `value` for the last number, `detail` for others. */
  readonly card?: CardPlace;
  /** Shown only if the user chooses it; the table needs a `name`. */
  readonly optional?: boolean;
};

export type TableProps<Row> = {
  /** Describes the table to screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rowKey: (row: Row) => string;
  /** The target of a row; the title of its card and its first column become its link. */
  readonly href?: (row: Row) => string;
  /** What a plain click on a row does instead of following `href`. Cards follow it. */
  readonly onOpen?: (row: Row) => void;
  /** The group of a row, such as its day: a line names it above its first row. */
  readonly group?: (row: Row) => string;
  /** What a row has to say in a line below it, if anything. */
  readonly note?: (row: Row) => ComponentChildren;
  /** The key of the row that is open beside the table. */
  readonly current?: string | undefined;
  /** Lets the user choose columns and density, stored in the browser under this name. */
  readonly name?: string;
};

/** The rows that follow each other in one group. Without `group`, all are in one without a label. */
export function groupRows<Row>(
  rows: readonly Row[],
  group: (row: Row) => string = () => '',
): readonly { readonly label: string; readonly rows: readonly Row[] }[] {
  const groups: { readonly label: string; readonly rows: Row[] }[] = [];
  for (const row of rows) {
    const label = group(row);
    const last = groups.at(-1);
    if (last?.label === label) last.rows.push(row);
    else groups.push({ label, rows: [row] });
  }
  return groups;
}

/** The order of a table and how to change it. `undefined` is the order of the server. */
export type Sorter<Row> = {
  readonly sorting: Sorting | undefined;
  /** The order of the server, where it is known. */
  readonly initial?: Sorting;
  /** What to sort a column by; undefined if it cannot be sorted. */
  readonly keyOf: (column: Column<Row>) => string | undefined;
  readonly sort: (sorting: Sorting | undefined) => void;
};

/** The order of a list that the server sorts. */
export type ListSort = {
  /** The `sort` field of the list's query. */
  readonly query: string | undefined;
  readonly sorting: Sorting | undefined;
  readonly initial: Sorting;
  readonly sort: (sorting: Sorting | undefined) => void;
};

/** Text first, then numbers, then buttons: the last ones are pinned. */
export function orderColumns<Row>(columns: readonly Column<Row>[]): readonly Column<Row>[] {
  const rank = (column: Column<Row>) =>
    column === columns[0] ? 0 : column.label === '' ? 3 : column.end ? 2 : 1;
  return columns.toSorted((one, other) => rank(one) - rank(other));
}

/** The place of each column on a card. */
export function cardPlaces<Row>(columns: readonly Column<Row>[]): readonly CardPlace[] {
  const isTaken = (place: CardPlace) => columns.some(({ card }) => card === place);
  const value = isTaken('value')
    ? -1
    : columns.findLastIndex(({ label, end, card }) => end && label !== '' && card === undefined);
  const title = isTaken('title') ? -1 : 0;
  return columns.map(
    ({ card }, index) => card ?? (index === title ? 'title' : index === value ? 'value' : 'detail'),
  );
}

export function sortRows<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  sorting: Sorting | undefined,
): readonly Row[] {
  const by = sorting && columns.find(({ label }) => label === sorting.by)?.sortBy;
  if (!by) return rows;
  const sign = sorting.descending ? -1 : 1;
  return [...rows].sort((one, other) => {
    const a = by(one);
    const b = by(other);
    return a === b ? 0 : a < b ? -sign : sign;
  });
}
