// What an account has spent day by day, and which of its requests hold money now, for its overview.
// It only reads, over an index that leads to the account's own rows.

import { and, desc, eq, gte, isNull, lt, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { DAY_MS, type Span } from '../core/calendar.ts';
import type { Micro } from '../core/money.ts';
import type { Database } from '../store/database.ts';
import { holds, usageRecords } from '../store/money-tables.ts';

/** A UTC day in which requests of the account started, by its first millisecond. */
export type DaySpend = {
  readonly dayMs: number;
  readonly requests: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly debited: Micro;
};

export type OpenRequest = {
  readonly requestId: string;
  readonly model: string;
  readonly keyId: string;
  readonly format: 'chat' | 'messages';
  readonly stream: boolean;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly reserved: Micro;
};

export type Spend = {
  /** Oldest first; days without a request are left out. */
  readonly byDay: (accountId: string, span: Span) => Promise<readonly DaySpend[]>;
  /** Whether a request of the account was ever booked. */
  readonly any: (accountId: string) => boolean;
  /** Newest first. */
  readonly open: (accountId: string, limit: number) => readonly OpenRequest[];
};

export function createSpend({ db }: Database): Spend {
  const day = sql<number>`${usageRecords.startedAt} / ${sql.raw(String(DAY_MS))}`;
  const total = (column: SQLiteColumn) => sql`sum(${column})`.mapWith(Number);
  const days = db
    .select({
      day: day.mapWith(Number),
      requests: sql`count(*)`.mapWith(Number),
      inputTokens: total(usageRecords.inputTokens),
      outputTokens: total(usageRecords.outputTokens),
      debited: sql`sum(${usageRecords.debited})`.mapWith(BigInt),
    })
    .from(usageRecords)
    .where(
      and(
        eq(usageRecords.accountId, sql.placeholder('accountId')),
        gte(usageRecords.startedAt, sql.placeholder('fromMs')),
        lt(usageRecords.startedAt, sql.placeholder('untilMs')),
      ),
    )
    .groupBy(day)
    .orderBy(day)
    .prepare();

  const open = db
    .select({
      requestId: holds.requestId,
      model: holds.model,
      keyId: holds.keyId,
      format: holds.format,
      stream: holds.stream,
      startedAt: holds.createdAt,
      reserved: holds.amount,
    })
    .from(holds)
    .where(and(eq(holds.accountId, sql.placeholder('accountId')), isNull(holds.endedAt)))
    .orderBy(desc(holds.createdAt))
    .limit(sql.placeholder('limit'))
    .prepare();

  const first = db
    .select({ requestId: usageRecords.requestId })
    .from(usageRecords)
    .where(eq(usageRecords.accountId, sql.placeholder('accountId')))
    .limit(1)
    .prepare();

  return {
    any: (accountId) => first.get({ accountId }) !== undefined,
    byDay: async (accountId, { fromMs, untilMs }) =>
      days
        .all({ accountId, fromMs, untilMs })
        .map(({ day: number, ...spend }) => ({ dayMs: number * DAY_MS, ...spend })),
    open: (accountId, limit) => open.all({ accountId, limit }),
  };
}
