// Periods in an address and as text.

import '../support/english.ts';
import { afterEach, describe, expect, setSystemTime, test } from 'bun:test';
import { readPeriod } from '../../src/dashboard/period.ts';
import { formatPeriod, lastDays, lastMonths, spanOf, withDay } from '../../src/web/ui/period.ts';

afterEach(() => {
  setSystemTime();
});

describe('the period of an address', () => {
  const read = (query: string) => spanOf(new URLSearchParams(query));
  const instants = { from: '2026-11-01T00:00:00.000Z', to: '2026-11-03T00:00:00.000Z' };

  test('is a number of days, a month, or two instants', () => {
    expect([
      read('days=7'),
      read('month=2026-02'),
      read(`from=${instants.from}&to=${instants.to}`),
    ]).toEqual([{ days: '7' }, { month: '2026-02' }, instants]);
  });

  test('is the default for any other text', () => {
    const others = [
      ...['', 'days=8', 'days=month', 'month=2026-13', `from=${instants.from}`],
      ...['from=yesterday&to=today', `from=${instants.from}&to=2026-99-99`, 'from=1&to=2'],
    ];
    expect(others.map(read)).toEqual(others.map(() => ({ days: '30' })));
  });
});

test.each(['1', '7', '30', '90'] as const)('the last %p days are those of the server', (days) => {
  for (const now of ['2026-11-21T12:00:10Z', '2026-11-21T00:00:00Z', '2026-11-21T23:59:59Z']) {
    const { edges } = readPeriod({ days }, Date.parse(now));
    const ends = [edges[0], edges.at(-1)].map((edge) => new Date(edge ?? 0).toISOString());
    const { from, to } = lastDays(Number(days), Date.parse(now));
    expect([from, to]).toEqual(ends);
  }
});

describe('an edited day', () => {
  const from = '2026-11-10T00:00:00.000Z';
  const to = '2026-11-21T00:00:00.000Z';
  const edit = (end: 'from' | 'to', day: string) => withDay({ from, to }, end, day);

  test('leaves the other end where it is', () => {
    expect(edit('from', '2026-11-12')).toEqual({ from: '2026-11-12T00:00:00.000Z', to });
    expect(edit('to', '2026-11-12')).toEqual({ from, to: '2026-11-13T00:00:00.000Z' });
    expect(edit('to', '2026-11-10')).toEqual({ from, to: '2026-11-11T00:00:00.000Z' });
  });

  test('moves the other end where the period would be empty', () => {
    expect(edit('from', '2026-11-21')).toEqual({ from: to, to: '2026-11-22T00:00:00.000Z' });
    const before = { from: '2026-11-02T00:00:00.000Z', to: '2026-11-03T00:00:00.000Z' };
    expect(edit('to', '2026-11-02')).toEqual(before);
  });

  test('is ignored while its year is being typed', () => {
    const typed = ['', '0002-11-12', '0202-11-12', '20261-11-12'];
    expect(typed.map((day) => edit('from', day))).toEqual(typed.map(() => undefined));
  });
});

test('the months before are those of the calendar, also at the end of a long one', () => {
  setSystemTime(new Date('2026-03-31T23:00:00Z'));
  expect(lastMonths(3)).toEqual([
    { value: '2026-03', label: 'March 2026' },
    { value: '2026-02', label: 'February 2026' },
    { value: '2026-01', label: 'January 2026' },
  ]);
});

test('a filter of whole days names them in UTC, its last one included', () => {
  const from = '2026-11-01T00:00:00.000Z';
  expect(formatPeriod({ from, to: '2026-11-03T00:00:00.000Z' })).toBe(
    '1 Nov 2026 – 2 Nov 2026 (UTC)',
  );
  expect(formatPeriod({ from, to: '2026-11-02T00:00:00.000Z' })).toBe('1 Nov 2026 (UTC)');
  expect(formatPeriod({ from: '', to: '2026-11-03T10:30:00.000Z' })).toMatch(
    /^ – 3 Nov 2026, .*\(local time\)$/,
  );
});
