// Finds the hours (for an end user, the days) that may have a request of a kind, by the series, so
// that the list of requests reads only those. A candidate may hold none; no hour that holds one is
// missed.

import { and, desc, eq, gt, gte, lt, or, type SQL, sql } from 'drizzle-orm';
import { DAY_MS, type Span } from '../../core/calendar.ts';
import type { Database } from '../../store/contract.ts';
import { usageRecords } from '../../store/money-views.ts';
import { unindexed } from '../../store/portable.ts';
import { usageEndUsers, usageHours } from '../../store/series-tables.ts';
import type { RequestEnding, RequestKind } from '../request-kinds.ts';
import { TAIL_MAX } from './buckets.ts';
import { HOUR_MS, hourOfRecord } from './figures.ts';
import { prepareSeriesStatements } from './statements.ts';

/** The latest hour or day that begins within a span, cut at the span's end. */
type NextStretch = (span: Span) => Promise<Span | undefined>;

/** `undefined` where any time may have matches. */
type Candidates = (accountId: string, kind: RequestKind) => Promise<NextStretch | undefined>;

/** `database` is migrated. */
export function createCandidates(database: Database): Candidates {
  const { db } = database;
  const { mark, last } = prepareSeriesStatements(database);

  /** The hours of records that are not in the series yet. */
  async function hoursBehind(accountId: string, after: number): Promise<readonly number[]> {
    return (
      await db
        .selectDistinct({ hour: hourOfRecord })
        .from(usageRecords)
        .where(
          and(
            gt(usageRecords.number, after),
            // `unindexed`, so that the index by account is not used: it would read more than the
            // last rows.
            eq(unindexed(usageRecords.accountId), accountId),
          ),
        )
        .all()
    ).map(({ hour }) => hour);
  }

  return async (accountId, kind) => {
    const isAny = Object.values(kind).every((wanted) => wanted === undefined);
    const after = await mark();
    if (isAny || (await last()) - after > TAIL_MAX) return undefined;
    const behind = await hoursBehind(accountId, after);
    const known = prepareKnown(database, accountId, kind);
    return async (span) => {
      const hours = behind.filter((hour) => hour >= span.fromMs && hour < span.untilMs);
      const hour = Math.max(...hours);
      const newest = hours.length === 0 ? undefined : stretch(hour, HOUR_MS, span);
      return later(await known(span), newest);
    };
  };
}

function stretch(fromMs: number, lengthMs: number, span: Span): Span {
  return { fromMs, untilMs: Math.min(fromMs + lengthMs, span.untilMs) };
}

/** The one that ends later; if both end together, the one that contains the other. */
function later(a: Span | undefined, b: Span | undefined): Span | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  if (a.untilMs !== b.untilMs) return a.untilMs > b.untilMs ? a : b;
  return a.fromMs < b.fromMs ? a : b;
}

/** The latest stretch of the series that begins within a span. */
function prepareKnown({ db }: Database, accountId: string, kind: RequestKind): NextStretch {
  const value = sql.placeholder;
  const hours = db
    .select({ hour: usageHours.hour })
    .from(usageHours)
    .where(
      and(
        eq(usageHours.accountId, accountId),
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
  const { endUser, ...others } = kind;
  if (endUser === undefined) {
    return async (span) => {
      const hour = (await hours.get(span))?.hour;
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
        eq(usageEndUsers.endUser, endUser),
      ),
    )
    .prepare();
  const isWholeDay = Object.values(others).every((wanted) => wanted === undefined);
  return async (span) => {
    for (let untilMs = span.untilMs; ; ) {
      const hour = (await hours.get({ fromMs: span.fromMs, untilMs }))?.hour;
      if (hour === undefined) return undefined;
      const day = hour - (hour % DAY_MS);
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
