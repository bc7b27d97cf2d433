// In which hours there can be any request of a kind, by what the series know: the list of requests
// looks through those alone. An hour may turn out to hold none; none that holds one is left out.

import { and, desc, eq, gt, gte, lt, type SQL, sql } from 'drizzle-orm';
import { DAY_MS, type Span } from '../../core/calendar.ts';
import type { Database } from '../../store/database.ts';
import { usageRecords } from '../../store/money-tables.ts';
import { usageEndUsers, usageHours } from '../../store/series-tables.ts';
import { TAIL_MAX } from './buckets.ts';
import { HOUR_MS, hourOfRecord, rowOfRecord } from './figures.ts';
import { prepareSeriesStatements } from './statements.ts';

/** How requests end, for those who have asked: whose failure it was is not their concern. */
export type RequestEnding = 'completed' | 'stopped_balance' | 'client_cancelled' | 'failed';

export type RequestKind = {
  /** Who served it or, where nobody did, was asked for. */
  readonly model?: string | undefined;
  readonly keyId?: string | undefined;
  readonly outcome?: RequestEnding | undefined;
  /** Empty: requests that named none. */
  readonly endUser?: string | undefined;
};

/** The latest hour that begins at or after `fromMs`, and as much of it as is before `untilMs`. */
export type NextHour = (span: Span) => Span | undefined;

/** `undefined` where every instant is as good as any other. */
export type Candidates = (accountId: string, kind: RequestKind) => NextHour | undefined;

/** `database` is migrated. */
export function createCandidates(database: Database): Candidates {
  const { db } = database;
  const { mark, last } = prepareSeriesStatements(database);

  /** The hours of the records that are not in the series yet. */
  function hoursBehind(accountId: string, after: number): readonly number[] {
    return db
      .selectDistinct({ hour: hourOfRecord })
      .from(usageRecords)
      .where(
        and(
          gt(rowOfRecord, after),
          // With the plus, the index by account is not taken: the last rows are fewer than its own.
          eq(sql`+${usageRecords.accountId}`, accountId),
        ),
      )
      .all()
      .map(({ hour }) => hour);
  }

  return (accountId, kind) => {
    const isAny = Object.values(kind).every((wanted) => wanted === undefined);
    const after = mark();
    if (isAny || last() - after > TAIL_MAX) return undefined;
    const behind = hoursBehind(accountId, after);
    const known = prepareKnownHours(database, accountId, kind);
    return (span) => {
      const inSpan = behind.filter((hour) => hour >= span.fromMs && hour < span.untilMs);
      const hour = Math.max(known(span) ?? -1, ...inSpan);
      if (hour < 0) return undefined;
      return { fromMs: hour, untilMs: Math.min(hour + HOUR_MS, span.untilMs) };
    };
  };
}

/** The latest hour of the series that begins within a span. */
function prepareKnownHours(
  { db }: Database,
  accountId: string,
  kind: RequestKind,
): (span: Span) => number | undefined {
  const value = sql.placeholder;
  const hours = db
    .select({ hour: usageHours.hour })
    .from(usageHours)
    .where(
      and(
        eq(usageHours.accountId, accountId),
        gte(usageHours.hour, value('fromMs')),
        lt(usageHours.hour, value('untilMs')),
        kind.model === undefined ? undefined : eq(usageHours.model, kind.model),
        kind.keyId === undefined ? undefined : eq(usageHours.keyId, kind.keyId),
        kind.outcome === undefined ? undefined : endedSo(kind.outcome),
      ),
    )
    .orderBy(desc(usageHours.hour))
    .limit(1)
    .prepare();
  const { endUser } = kind;
  if (endUser === undefined) return (span) => hours.get(span)?.hour;
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
  return ({ fromMs, untilMs }) => {
    for (let before = untilMs; ; ) {
      const hour = hours.get({ fromMs, untilMs: before })?.hour;
      if (hour === undefined) return undefined;
      const day = hour - (hour % DAY_MS);
      if (days.get({ day }) !== undefined) return hour;
      before = day;
    }
  };
}

/** Whether a row of the series has any request that ended so. */
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
