// The order of a table, and what a click on the head of a column makes of it.

/** `by` is the label of a column, or its `sort` field for a list that the server sorts. */
export type Sorting = { readonly by: string; readonly descending: boolean };

/**
 * A click sorts numbers from the largest and text from A, then the other way, then not at all. The
 * column of the initial order has no "not at all". `isNumber`: the column shows numbers.
 */
export function nextSorting(
  by: string,
  isNumber: boolean,
  { sorting, initial }: { readonly sorting: Sorting | undefined; readonly initial?: Sorting },
): Sorting | undefined {
  if (sorting?.by !== by) return { by, descending: isNumber };
  if (initial?.by === by) return { by, descending: !sorting.descending };
  return sorting.descending === isNumber ? { by, descending: !isNumber } : undefined;
}
