// The order of tables.

import { expect, test } from 'bun:test';
import { nextSorting, type Sorting } from '../../src/web/ui/sorting.ts';

const initial: Sorting = { by: 'name', descending: true };

/** The orders that clicks on the head of one column lead to. */
function clicks(by: string, isNumber: boolean, count: number) {
  let sorting: Sorting | undefined = initial;
  return Array.from({ length: count }, () => {
    sorting = nextSorting(by, isNumber, { sorting, initial });
    return sorting;
  });
}

test('clicks sort by a column, the other way, and not at all', () => {
  expect(clicks('cost', true, 3)).toEqual([
    { by: 'cost', descending: true },
    { by: 'cost', descending: false },
    undefined,
  ]);
});

test('each click on the column of the initial order reverses it', () => {
  expect(clicks('name', false, 3)).toEqual([
    { by: 'name', descending: false },
    { by: 'name', descending: true },
    { by: 'name', descending: false },
  ]);
});
