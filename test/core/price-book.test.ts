// The price of a request by its start time: the latest period that has begun, and the open window
// of the day. Compared with a second implementation that walks the days of the calendar.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Price } from '../../src/core/price.ts';
import {
  type Hours,
  nextPriceChange,
  overlap,
  type PriceBook,
  type PricePeriod,
  periodAt,
  priceAt,
  priceIn,
  SINCE_EVER,
  WEEKDAYS,
  windowAt,
} from '../../src/core/price-book.ts';
import { flatPrice } from '../support/price.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
const WEEK = 7 * DAY;

function price(version: string): Price {
  return flatPrice(version, 1n);
}

const at = (text: string): number => Date.parse(text);

const anyHours = fc
  .tuple(
    fc.integer({ min: 0, max: 1_439 }),
    fc.integer({ min: 0, max: 1_440 }),
    fc.subarray([...WEEKDAYS], { minLength: 1 }),
  )
  .filter(([from, to]) => from !== to)
  .map(([fromMinute, toMinute, days]): Hours => ({ fromMinute, toMinute, days }));

/** Instants of some weeks, many of them on a minute's edge. */
const anyInstant = fc
  .tuple(fc.integer({ min: -40_000, max: 40_000 }), fc.constantFrom(-1, 0, 1, 31_000))
  .map(([minutes, rest]) => at('2026-10-01T00:00:00Z') + minutes * MINUTE + rest);

/** Windows that would overlap an earlier one are left out, as the catalog would refuse them. */
const anyWindows = fc.array(anyHours, { maxLength: 4 }).map((all) => {
  const kept: Hours[] = [];
  for (const hours of all) if (!kept.some((other) => overlap(other, hours))) kept.push(hours);
  return kept;
});

const anyBook = fc
  .tuple(
    anyWindows,
    fc.uniqueArray(fc.tuple(anyInstant, anyWindows), {
      maxLength: 4,
      selector: ([validFromMs]) => validFromMs,
    }),
    fc.boolean(),
  )
  .map(([windows, later, alike]): PriceBook => {
    const period = (validFromMs: number, hours: readonly Hours[], name: string): PricePeriod => ({
      validFromMs,
      price: price(name),
      // Sometimes a window costs what the period does, so that its edges change nothing.
      windows: hours.map((each, index) => ({
        ...each,
        price: price(alike && index === 0 ? name : `${name}.${index}`),
      })),
    });
    const sorted = later.toSorted(([a], [b]) => a - b);
    return [
      period(SINCE_EVER, windows, 'first'),
      ...sorted.map(([ms, hours], index) => period(ms, hours, `later${index}`)),
    ];
  });

/** Looks at the windows that opened today or yesterday, as a person with a calendar would. */
function isOpenByCalendar(hours: Hours, ms: number): boolean {
  const midnight = Math.floor(ms / DAY) * DAY;
  return [midnight, midnight - DAY].some((day) => {
    const name = new Date(day).toUTCString().slice(0, 3).toLowerCase();
    if (!(hours.days as readonly string[]).includes(name)) return false;
    const wraps = hours.toMinute < hours.fromMinute;
    const opens = day + hours.fromMinute * MINUTE;
    const closes = day + hours.toMinute * MINUTE + (wraps ? DAY : 0);
    return ms >= opens && ms < closes;
  });
}

function priceByCalendar(book: PriceBook, ms: number): string {
  const begun = book.filter((period) => period.validFromMs <= ms);
  const period = begun.at(-1);
  const open = period?.windows.filter((window) => isOpenByCalendar(window, ms)) ?? [];
  expect(open.length).toBeLessThanOrEqual(1);
  return open[0]?.price.version ?? period?.price.version ?? 'none';
}

describe('priceAt', () => {
  test('law: is what the calendar says, at every instant', () => {
    fc.assert(
      fc.property(anyBook, anyInstant, (book, ms) => {
        expect(priceAt(book, ms).version).toBe(priceByCalendar(book, ms));
      }),
      { numRuns: 2_000 },
    );
  });

  test('law: a period begins at its instant and ends right before the next', () => {
    fc.assert(
      fc.property(anyBook, (book) => {
        for (const [index, period] of book.entries()) {
          if (index === 0) continue;
          const { validFromMs } = period;
          expect(periodAt(book, validFromMs)).toBe(period);
          expect(periodAt(book, validFromMs - 1)).toBe(book[index - 1] as PricePeriod);
        }
        expect(periodAt(book, Number.NEGATIVE_INFINITY)).toBe(book[0]);
        expect(periodAt(book, Number.MAX_SAFE_INTEGER)).toBe(book.at(-1) as PricePeriod);
      }),
    );
  });

  test('law: a window is inclusive at its start and exclusive at its end', () => {
    fc.assert(
      fc.property(anyHours, fc.nat(2_000), (hours, week) => {
        const window = { ...hours, price: price('window') };
        const period = { validFromMs: SINCE_EVER, price: price('base'), windows: [window] };
        const sunday = at('2026-10-04T00:00:00Z') + week * WEEK;
        for (const day of hours.days) {
          const opens = sunday + WEEKDAYS.indexOf(day) * DAY + hours.fromMinute * MINUTE;
          const length = (hours.toMinute - hours.fromMinute + 1_440) % 1_440 || 1_440;
          const closes = opens + length * MINUTE;
          expect(windowAt(period, opens)).toBe(window);
          expect(windowAt(period, closes - 1)).toBe(window);
          // Unless it opens again at once, or has not closed from the day before.
          expect(windowAt(period, closes) === window).toBe(isOpenByCalendar(hours, closes));
          expect(windowAt(period, opens - 1) === window).toBe(isOpenByCalendar(hours, opens - 1));
        }
      }),
    );
  });

  test('a window over midnight belongs to the day on which it opens', () => {
    const window = {
      fromMinute: 16 * 60 + 30,
      toMinute: 30,
      days: ['fri', 'sat'],
      price: price('night'),
    } as const;
    const period = { validFromMs: SINCE_EVER, price: price('day'), windows: [window] };
    const versions = [
      '2026-10-02T16:29:59.999Z', // a Friday
      '2026-10-02T16:30:00Z',
      '2026-10-03T00:29:59.999Z',
      '2026-10-03T00:30:00Z',
      '2026-10-03T16:30:00Z',
      '2026-10-04T00:29:00Z', // Sunday, still Saturday's
      '2026-10-04T16:30:00Z',
      '2026-10-02T00:15:00Z', // Thursday's would be open now
    ].map((text) => priceAt([period], at(text)).version);
    expect(versions).toEqual(['day', 'night', 'night', 'day', 'night', 'night', 'day', 'day']);
  });

  test('a change takes effect at its instant, also in the middle of a window', () => {
    const night = { fromMinute: 0, toMinute: 360, days: WEEKDAYS };
    const book: PriceBook = [
      { validFromMs: SINCE_EVER, price: price('a'), windows: [{ ...night, price: price('a.n') }] },
      {
        validFromMs: at('2026-10-01T03:00:00.500Z'),
        price: price('b'),
        windows: [{ ...night, price: price('b.n') }],
      },
    ];
    const ask = (text: string): string => priceAt(book, at(text)).version;
    expect(ask('2026-10-01T03:00:00.499Z')).toBe('a.n');
    expect(ask('2026-10-01T03:00:00.500Z')).toBe('b.n');
    expect(ask('2026-10-01T06:00:00Z')).toBe('b');
    expect(priceIn(book[0], at('2027-01-01T07:00:00Z')).version).toBe('a');
  });
});

test('law: two windows overlap when some minute of the week is in both', () => {
  fc.assert(
    fc.property(anyHours, anyHours, (one, other) => {
      const sunday = at('2026-10-04T00:00:00Z');
      let both = false;
      for (let minute = 0; minute < 7 * 1_440 && !both; minute += 1) {
        const ms = sunday + minute * MINUTE;
        both = isOpenByCalendar(one, ms) && isOpenByCalendar(other, ms);
      }
      expect(overlap(one, other)).toBe(both);
      expect(overlap(other, one)).toBe(both);
    }),
    { numRuns: 30 },
  );
});

describe('nextPriceChange', () => {
  test('law: until then nothing changes, and then something does', () => {
    fc.assert(
      fc.property(
        anyBook,
        anyInstant,
        fc.array(fc.double({ min: 0, max: 1, noNaN: true })),
        (book, ms, shares) => {
          const next = nextPriceChange(book, ms);
          const { version } = priceAt(book, ms);
          const end = next ?? ms + 100 * WEEK;
          expect(end).toBeGreaterThan(ms);
          for (const share of [...shares, 1]) {
            const between = Math.min(end - 1, ms + Math.floor(share * (end - ms)));
            expect(priceAt(book, between).version).toBe(version);
          }
          if (next !== undefined) expect(priceAt(book, next).version).not.toBe(version);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test('is undefined where there is one price for ever', () => {
    expect(
      nextPriceChange([{ validFromMs: SINCE_EVER, price: price('a'), windows: [] }], 0),
    ).toBeUndefined();
  });

  test('looks past changes that change no number', () => {
    const night = { fromMinute: 0, toMinute: 360, days: WEEKDAYS, price: price('a') };
    const book: PriceBook = [
      { validFromMs: SINCE_EVER, price: price('a'), windows: [night] },
      { validFromMs: at('2026-10-01T00:00:00Z'), price: price('a'), windows: [] },
      { validFromMs: at('2026-11-01T00:00:00Z'), price: price('b'), windows: [] },
    ];
    expect(nextPriceChange(book, 0)).toBe(at('2026-11-01T00:00:00Z'));
  });
});
