// Reads what keys spent recently and what they usually spend, for the runaway guard. Read-only, in
// pieces: recent charges from the newest rows of the books, the habit from the usage series.

import { and, desc, eq, gte, inArray, lt, or, type SQL, sql } from 'drizzle-orm';
import { createPause } from '../async/yield.ts';
import { DAY_MS, type Span } from '../core/calendar.ts';
import { larger, type Micro, micro, ZERO } from '../core/money.ts';
import { isInWindow, type KeyCharge, SLICE_MS } from '../core/runaway.ts';
import type { Database } from '../store/contract.ts';
import { requests } from '../store/money-tables.ts';
import { usageDays, usageHours } from '../store/series-tables.ts';
import { apiKeys } from '../store/tables.ts';
import { readWideSum, wideSum } from '../store/wide-sum.ts';
import { BookedNames } from './booked-names.ts';
import { isInRows, prepareSeriesStatements, type RecordRange } from './series/statements.ts';

/** By the number of the key in `texts`. */
type Charge = KeyCharge<number>;

/** Rows that are read at once: about a millisecond. */
const PAGE = 2_000;

type Family = { readonly accountId: string; readonly family: string };

/** `monotonic` is a clock in milliseconds that never jumps. */
export function createRecentSpend(database: Database, monotonic?: () => number) {
  const { mark, last } = prepareSeriesStatements(database);
  const names = new BookedNames();
  const readPage = preparePage(database);
  const habit = prepareHabit(database);

  async function page(after: number, until: number): Promise<readonly Charge[]> {
    return (await readPage.all({ after, until })).map(([key, slice, amount]) => ({
      key: Number(key),
      slice: Number(slice),
      amount: readWideSum(amount),
    }));
  }

  /** The most that was spent in one hour of a span; looks no further once it was `enough`. */
  async function most(
    hours: (typeof habit)['hours'],
    of: Family,
    { fromMs, untilMs }: Span,
    enough: Micro,
  ): Promise<Micro> {
    const pause = createPause(monotonic);
    let found: Micro = ZERO;
    for (let end = untilMs; end > fromMs && found < enough; end -= DAY_MS) {
      const day = { ...of, fromMs: Math.max(fromMs, end - DAY_MS), untilMs: end };
      for (const [amount] of await hours.all(day)) found = larger(found, readWideSum(amount));
      await pause();
    }
    return found;
  }

  return {
    /** The last row of the books; rows that are committed later have higher numbers. */
    last: (): Promise<number> => database.settled(last),

    /** The last row of the books that the usage series includes. */
    mark,

    /**
     * Passes on the charges of the rows after `after`, up to `until`: from the last one back, up to
     * a page without a request that ended in the window.
     */
    async recent(
      { after, until }: RecordRange,
      nowMs: number,
      take: (charge: Charge) => void,
    ): Promise<void> {
      const pause = createPause(monotonic);
      for (let at = until; at > after; at -= PAGE) {
        const charges = await page(Math.max(after, at - PAGE), at);
        if (!charges.some(({ slice }) => isInWindow(slice, nowMs))) return;
        charges.forEach(take);
        await pause();
      }
    },

    async keyId(key: number): Promise<string> {
      await names.read(database.db, [key]);
      return names.text(key);
    },

    /**
     * The most that a key and its replacements spent in one hour of a span, up to `enough`. Where
     * they never spent anything before the last day of the span, that of their account; undefined
     * where the account spent nothing before that day, too: one test request is no habit.
     */
    async busiestHour(of: Family, span: Span, enough: Micro): Promise<Micro | undefined> {
      const before = { ...span, untilMs: span.untilMs - DAY_MS };
      const hasSpent = async (hours: typeof habit.hours): Promise<boolean> =>
        (await most(hours, of, before, micro(1n))) > ZERO;
      const hasEarlier = async (): Promise<boolean> =>
        (await habit.earlier.get({ ...of, untilMs: span.fromMs, limit: 1 })) !== undefined;
      if ((await hasSpent(habit.hours)) || (await hasEarlier())) {
        return most(habit.hours, of, span, enough);
      }
      return (await hasSpent(habit.accountHours))
        ? most(habit.accountHours, of, span, enough)
        : undefined;
    },
  };
}

function preparePage(database: Database) {
  const ended = sql`${requests.startedAt} + ${requests.durationMs}`;
  const slice = sql`(${ended}) / ${sql.raw(String(SLICE_MS))}`;
  const query = database.db
    .select({
      key: requests.key,
      slice: sql`${slice}`.as('slice'),
      amount: wideSum(sql`(${requests.charged} - ${requests.loss})`),
    })
    .from(requests)
    .where(isInRows(requests.number))
    .groupBy(requests.key, sql`${slice}`);
  type Row = readonly [key: number | bigint, slice: number | bigint, amount: string];
  return database.prepare<RecordRange, Row>(query);
}

function prepareHabit(database: Database) {
  const { db } = database;
  const value = sql.placeholder;
  const ids = db
    .select({ id: apiKeys.id })
    .from(apiKeys)
    .where(
      and(
        eq(apiKeys.accountId, value('accountId')),
        or(eq(apiKeys.id, value('family')), eq(apiKeys.family, value('family'))),
      ),
    );
  const hours = (which: SQL | undefined) =>
    database.prepare<Family & Span, readonly [amount: string]>(
      db
        .select({ amount: wideSum(usageHours.debited) })
        .from(usageHours)
        .where(
          and(
            eq(usageHours.accountId, value('accountId')),
            gte(usageHours.hour, value('fromMs')),
            lt(usageHours.hour, value('untilMs')),
            which,
          ),
        )
        .groupBy(usageHours.hour),
    );
  const earlier = db
    .select({ day: usageDays.day })
    .from(usageDays)
    .where(
      and(
        eq(usageDays.accountId, value('accountId')),
        lt(usageDays.day, value('untilMs')),
        inArray(usageDays.keyId, ids),
        sql`${usageDays.debited} > 0`,
      ),
    )
    .orderBy(desc(usageDays.day))
    .limit(value('limit'));
  return {
    hours: hours(inArray(usageHours.keyId, ids)),
    accountHours: hours(undefined),
    earlier: database.prepare<Family & { untilMs: number; limit: number }, readonly [day: number]>(
      earlier,
    ),
  };
}
