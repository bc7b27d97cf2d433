// A name keeps its colour in every chart, and two names share one only if none is free.

import { beforeEach, expect, test } from 'bun:test';
import { chooseSlot, colourOf } from '../../src/web/ui/chart-data.ts';

const NAMES = ['swift-1', 'scout-1', 'deep-1', 'Laptop', 'ann', 'a', 'b', 'c', 'd', 'e'];

beforeEach(() => {
  const stored = new Map<string, string>();
  Object.assign(globalThis, {
    localStorage: {
      getItem: (name: string) => stored.get(name) ?? null,
      setItem: (name: string, value: string) => stored.set(name, value),
    },
  });
});

test('ten names have ten colours, and keep them in any order', () => {
  const colours = NAMES.map(colourOf);
  expect(new Set(colours).size).toBe(10);
  expect(NAMES.toReversed().map(colourOf)).toEqual(colours.toReversed());
  expect([...NAMES, ...NAMES.map((name) => `${name}-more`)].map(colourOf).slice(0, 10)).toEqual(
    colours,
  );
});

test('the colour of a hash is taken if it is free, or if none is', () => {
  expect([
    chooseSlot(23, new Set()),
    chooseSlot(23, new Set([3, 4])),
    chooseSlot(29, new Set([9])),
    chooseSlot(23, new Set([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])),
  ]).toEqual([3, 5, 0, 3]);
});

test('stored colours that make no sense are ignored', () => {
  localStorage.setItem('tollgate-chart-colours', '[["x",1],[5],{"a":1}]');
  expect(colourOf('swift-1')).toMatch(/^var\(--chart-\d+\)$/);
  localStorage.setItem('tollgate-chart-colours', 'no JSON');
  expect(colourOf('swift-1')).toMatch(/^var\(--chart-\d+\)$/);
});
