// The draft of prices in the browser: how it is gathered and taken apart.

import '../../../support/english.ts';
import { expect, test } from 'bun:test';
import {
  addPeriod,
  clearDraft,
  draft,
  dropPeriod,
  isEmpty,
  isWithdrawn,
  keep,
  withdraw,
} from '../../../../src/dashboard/web/operator/prices/draft.ts';

test('a later draft of the same instant replaces the one before, however it is written', () => {
  clearDraft();
  const period = { model: 'swift-1', valid_from: '2099-01-01T00:00:00Z', input: '1', output: '2' };
  addPeriod(period);
  const again = { ...period, valid_from: '2099-01-01T00:00:00.000Z', input: '3' };
  addPeriod(again);
  addPeriod({ ...period, model: 'swift-0' });
  expect(draft.value.add.map(({ model, input }) => [model, input])).toEqual([
    ['swift-1', '3'],
    ['swift-0', '1'],
  ]);
  dropPeriod(again);
  expect(draft.value.add.map(({ model }) => model)).toEqual(['swift-0']);
  withdraw('swift-1', '2099-01-01T00:00:00Z');
  withdraw('swift-1', '2099-01-01T00:00:00.000Z');
  expect([draft.value.withdraw.length, isWithdrawn('swift-1', '2099-01-01T00:00:00Z')]).toEqual([
    1,
    true,
  ]);
  keep('swift-1', '2099-01-01T00:00:00Z');
  expect(isEmpty(draft.value)).toBe(false);
  clearDraft();
  expect(isEmpty(draft.value)).toBe(true);
});
