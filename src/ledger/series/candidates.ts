// Finds the hours (for an end user, the days) that may have a request of a kind, by the series, so
// that the list of requests reads only those. A candidate may hold none; no hour that holds one is
// missed. The search pauses, because the series of an account may have very many rows.

import { and, desc, eq, gt, gte, inArray, lt, lte, or, type SQL, sql } from 'drizzle-orm';
import type { Pause } from '../../async/yield.ts';
import { DAY_MS, type Span } from '../../core/calendar.ts';
import type { Database } from '../../store/contract.ts';
import { usageRecords } from '../../store/money-views.ts';
import { unindexed } from '../../store/portable.ts';
import { usageEndUsers, usageHours } from '../../store/series-tables.ts';
import type { RequestEnding, RequestKind } from '../request-kinds.ts';
import { createCut } from '../steps.ts';
import { TAIL_MAX } from './buckets.ts';
import { OTHER_END_USERS } from './end-users.ts';
import { HOUR_MS, hourOfRecord } from './figures.ts';
import { prepareSeriesStatements, type RecordRange } from './statements.ts';

/** The latest hour or day that begins within a span, cut at the span's end. */
type NextStretch = (span: Span) => Promise<Span | undefined>;

/** `undefined` where any time may have matches. */
type Candidates = (
  accountId: string,
  kind: RequestKind,
  pause: Pause,
) => Promise<NextStretch | undefined>;

/** `database` is migrated. A statement reads no more than `pieceRows` rows, or those of one hour. */
export function createCandidates(database: Database, pieceRows: number): Candidates {
  const { db } = database;
  const { mark, last } = prepareSeriesStatements(database);

  /** The hours of records after one, up to another, which are not in the series yet. */
  async function hoursBehind(
    accountId: string,
    { after, until }: RecordRange,
    pause: Pause,
  ): Promise<readonly number[]> {
    const hours = new Set<number>();
    for (let from = after; from < until; from += pieceRows) {
      const rows = await db
        .selectDistinct({ hour: hourOfRecord })
        .from(usageRecords)
        .where(
          and(
            gt(usageRecords.number, from),
            lte(usageRecords.number, from + pieceRows),
            // `unindexed`, so that the index by account is not used: it would read more than the
            // last rows.
            eq(unindexed(usageRecords.accountId), accountId),
          ),
        )
        .all();
      for (const { hour } of rows) hours.add(hour);
      await pause();
    }
    return [...hours];
  }

  return async (accountId, kind, pause) => {
    const isAny = Object.values(kind).every((wanted) => wanted === undefined);
    const after = await mark();
    const until = await last();
    if (isAny || until - after > TAIL_MAX) return undefined;
    const behind = await hoursBehind(accountId, { after, until }, pause);
    const known = prepareKnown(database, accountId, kind, pieceRows, pause);
    return async (span) => {
      const hours = behind.filter((hour) => hour >= span.fromMs && hour < span.untilMs);
      if (hours.length === 0) return known(span);
      const hour = Math.max(...hours);
      // Nothing older is wanted yet.
      return later(await known({ ...span, fromMs: hour }), stretch(hour, HOUR_MS, span));
    };
  };
}

function stretch(fromMs: number, lengthMs: number, span: Span): Span {
  return { fromMs, untilMs: Math.min(fromMs + lengthMs, span.untilMs) };
}

/** The one that ends later; if both end together, the one that contains the other. */
function later(a: Span | undefined, b: Span): Span {
  if (a === undefined) return b;
  if (a.untilMs !== b.untilMs) return a.untilMs > b.untilMs ? a : b;
  return a.fromMs < b.fromMs ? a : b;
}

/** The latest stretch of the series that begins within a span. */
function prepareKnown(
  { db }: Database,
  accountId: string,
  kind: RequestKind,
  pieceRows: number,
  pause: Pause,
): NextStretch {
  const value = sql.placeholder;
  const isOwn = eq(usageHours.accountId, accountId);
  const piece = db
    .select({ hour: usageHours.hour })
    .from(usageHours)
    .where(and(isOwn, lt(usageHours.hour, value('untilMs'))))
    .orderBy(desc(usageHours.hour))
    .limit(1)
    .offset(pieceRows - 1)
    .prepare();
  const cut = createCut<number>(
    async (untilMs) => (await piece.get({ untilMs }))?.hour,
    (one, other) => one < other,
  );
  const hours = db
    .select({ hour: usageHours.hour })
    .from(usageHours)
    .where(
      and(
        isOwn,
        gte(usageHours.hour, value('fromMs')),
        lt(usageHours.hour, value('untilMs')),
        kind.model === undefined
          ? undefined
          : or(eq(usageHours.model, kind.model), eq(usageHours.requested, kind.model)),
        kind.served === undefined ? undefined : eq(usageHours.model, kind.served),
        kind.requested === undefined ? undefined : eq(usageHours.requested, kind.requested),
        kind.keyId === undefined ? undefined : eq(usageHours.keyId, kind.keyId),
        kind.outcome === undefined ? undefined : endedSo(kind.outcome),
        kind.received === undefined || kind.received.answers ? undefined : gt(usageHours.failed, 0),
      ),
    )
    .orderBy(desc(usageHours.hour))
    .limit(1)
    .prepare();

  async function latestHour(span: Span): Promise<number | undefined> {
    let { untilMs } = span;
    while (untilMs > span.fromMs) {
      const fromMs = await cut(span.fromMs, untilMs);
      const row = await hours.get({ fromMs, untilMs });
      if (row !== undefined) return row.hour;
      untilMs = fromMs;
      await pause();
    }
    return undefined;
  }

  const { endUser, ...others } = kind;
  if (endUser === undefined) {
    return async (span) => {
      const hour = await latestHour(span);
      return hour === undefined ? undefined : stretch(hour, HOUR_MS, span);
    };
  }
  const days = db
    .select({ day: usageEndUsers.day })
    .from(usageEndUsers)
    .where(
      and(
        eq(usageEndUsers.accountId, accountId),
        eq(usageEndUsers.day, value('day')),
        inArray(usageEndUsers.endUser, [endUser, OTHER_END_USERS]),
      ),
    )
    .limit(1)
    .prepare();
  const isWholeDay = Object.values(others).every((wanted) => wanted === undefined);
  return async (span) => {
    for (let untilMs = span.untilMs; ; ) {
      const hour = await latestHour({ fromMs: span.fromMs, untilMs });
      if (hour === undefined) return undefined;
      const day = hour - (hour % DAY_MS);
      await pause();
      if ((await days.get({ day })) === undefined) untilMs = day;
      else if (isWholeDay) return stretch(day, DAY_MS, { ...span, untilMs });
      else return stretch(hour, HOUR_MS, { ...span, untilMs });
    }
  };
}

/** Whether a row of the series counts any request with this ending. */
function endedSo(outcome: RequestEnding): SQL {
  const { requests, stopped, cancelled, failed } = usageHours;
  switch (outcome) {
    case 'completed':
      return sql`${requests} > ${stopped} + ${cancelled} + ${failed}`;
    case 'stopped_balance':
      return gt(stopped, 0);
    case 'client_cancelled':
      return gt(cancelled, 0);
    case 'failed':
      return gt(failed, 0);
  }
}
