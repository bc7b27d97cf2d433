// Days and instants as people write them: what the calendar does not have is never read as another.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { isDay, parseInstant } from '../../src/core/instant.ts';

test.each([
  ['2026-10-01T00:00:00Z', Date.UTC(2026, 9, 1)],
  ['2026-10-01t00:00:00.5z', Date.UTC(2026, 9, 1) + 500],
  ['2026-10-01 16:30Z', Date.UTC(2026, 9, 1, 16, 30)],
  ['2026-10-01T02:00:00+02:00', Date.UTC(2026, 9, 1)],
  ['2026-09-30T18:15:00.125-05:45', Date.UTC(2026, 9, 1) + 125],
  ['2024-02-29T23:59:59.999Z', Date.UTC(2024, 2, 1) - 1],
])('%s is read', (text, ms) => {
  expect(parseInstant(text)).toBe(ms);
});

test.each([
  '2026-10-01T00:00:00',
  '2026-10-01',
  '2026-02-29T00:00:00Z',
  '2026-13-01T00:00:00Z',
  '2026-10-01T24:00:00Z',
  '2026-10-01T00:60:00Z',
  '2026-10-01T00:00:60Z',
  '2026-10-01T00:00:00.0001Z',
  '2026-10-01T00:00:00+24:00',
  '2026-10-01T00:00:00+0200',
  ' 2026-10-01T00:00:00Z',
  '',
])('%p is refused', (text) => {
  expect(parseInstant(text)).toBeUndefined();
});

test('law: what an instant prints as is read as that instant', () => {
  const any = fc.date({
    min: new Date('1970-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(any, (date) => {
      expect(parseInstant(date.toISOString())).toBe(date.getTime());
    }),
  );
});

test('a day is one that the calendar has', () => {
  const days = ['2026-02-28', '2024-02-29', '2026-02-29', '2026-04-31', '2026-00-01', 'x'];
  expect(days.map(isDay)).toEqual([true, true, false, false, false, false]);
});
