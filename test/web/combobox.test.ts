// The matches of the select with type-ahead.

import { expect, test } from 'bun:test';
import { matchesOf } from '../../src/web/ui/combobox-matches.ts';

const OPTIONS = ['Any', 'ci laptop', 'Laptop of Ann', 'laptop', 'server'].map((label) => ({
  value: label,
  label,
}));

test.each([
  ['', ['Any', 'ci laptop', 'Laptop of Ann', 'laptop', 'server']],
  [' LAPTOP ', ['Laptop of Ann', 'laptop', 'ci laptop']],
  ['ann lap', ['Laptop of Ann']],
  ['nothing', []],
])('%j lists %j', (typed, labels) => {
  expect(matchesOf(OPTIONS, typed).map(({ label }) => label)).toEqual(labels);
});
