// The order of tables.

import { expect, test } from 'bun:test';
import {
  type Column,
  nextSorting,
  type Sorting,
} from '../../../src/dashboard/web/ui/table-column.ts';

const NAME: Column<unknown> = { label: 'Name', show: () => '' };
const COST: Column<unknown> = { label: 'Cost', end: true, show: () => '' };
const initial: Sorting = { by: 'name', descending: true };

/** The orders that clicks on the head of one column lead to. */
function clicks(column: Column<unknown>, by: string, count: number) {
  let sorting: Sorting | undefined = initial;
  return Array.from({ length: count }, () => {
    sorting = nextSorting(column, by, { sorting, initial });
    return sorting;
  });
}

test('clicks sort by a column, the other way, and not at all', () => {
  expect(clicks(COST, 'cost', 3)).toEqual([
    { by: 'cost', descending: true },
    { by: 'cost', descending: false },
    undefined,
  ]);
});

test('each click on the column of the initial order reverses it', () => {
  expect(clicks(NAME, 'name', 3)).toEqual([
    { by: 'name', descending: false },
    { by: 'name', descending: true },
    { by: 'name', descending: false },
  ]);
});
