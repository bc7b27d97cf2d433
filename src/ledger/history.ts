// What the books know of requests that an earlier process admitted, so that a restart opens neither
// the windows nor the caps of an account. The limits ask; nothing here writes.

import { and, desc, eq, gt, gte, inArray, isNull, lt, lte, or, sql } from 'drizzle-orm';
import type { Span } from '../core/calendar.ts';
import { SLICE_TOKENS } from '../core/price.ts';
import type { Database } from '../store/contract.ts';
import { holds, usageRecords } from '../store/money-tables.ts';
import { smaller } from '../store/portable.ts';
import { lastUsageRow } from './usage-records.ts';

/** Holds that are looked through for those of the last minute, latest first: 4,000 a second. */
const RECENT_HOLDS_MAX = 240_000;

export function createHistory(database: Database) {
  const { db } = database;
  const latestHold = sql`(select coalesce(max(rowid), 0) from ${holds})`;
  /** A request that was admitted, with what its windows were charged. */
  const admission = {
    accountId: holds.accountId,
    model: holds.model,
    startedAt: holds.createdAt,
    tokens:
      sql`${holds.promptTokens} + ${smaller(holds.outputBound, sql.raw(String(SLICE_TOKENS)))}`.mapWith(
        Number,
      ),
  };
  const admitted = db
    .select(admission)
    .from(holds)
    .where(
      and(
        // No index leads to an instant; the rows of the last minute are the last ones.
        gt(sql`${holds}.rowid`, sql`${latestHold} - ${RECENT_HOLDS_MAX}`),
        gte(holds.createdAt, sql.placeholder('sinceMs')),
      ),
    )
    .orderBy(desc(holds.createdAt))
    .prepare();

  // Open ones have an index by account, and so have the records of those that have ended.
  const account = sql.placeholder('accountId');
  const ended = db
    .select({ requestId: usageRecords.requestId })
    .from(usageRecords)
    .where(
      and(
        eq(usageRecords.accountId, account),
        gte(usageRecords.startedAt, sql.placeholder('sinceMs')),
      ),
    );
  const admittedOne = db
    .select(admission)
    .from(holds)
    .where(
      and(
        or(
          and(eq(holds.accountId, account), isNull(holds.endedAt)),
          inArray(holds.requestId, ended),
        ),
        gte(holds.createdAt, sql.placeholder('sinceMs')),
      ),
    )
    .orderBy(desc(holds.createdAt))
    .prepare();

  const used = db
    .select({
      tokens:
        sql`coalesce(sum(${usageRecords.inputTokens} + ${usageRecords.outputTokens}), 0)`.mapWith(
          Number,
        ),
    })
    .from(usageRecords)
    .where(
      and(
        eq(usageRecords.accountId, sql.placeholder('accountId')),
        gte(usageRecords.startedAt, sql.placeholder('fromMs')),
        lt(usageRecords.startedAt, sql.placeholder('untilMs')),
        lte(sql`${usageRecords}.rowid`, sql.placeholder('mark')),
      ),
    )
    .prepare();

  return {
    /** What started at or after an instant, newest first: of all accounts, or of one. */
    admittedSince: (sinceMs: number, accountId?: string) =>
      accountId === undefined ? admitted.all({ sinceMs }) : admittedOne.all({ sinceMs, accountId }),
    /** Names the present state of the usage records: later ones come after it. */
    mark: joined(() => database.settled(() => lastUsageRow(database))),
    /** Input and output tokens of requests that started within a span, as they were at a mark. */
    usedBefore: async (accountId: string, { fromMs, untilMs }: Span, mark: number) =>
      (await used.get({ accountId, fromMs, untilMs, mark }))?.tokens ?? 0,
  };
}

/**
 * Whoever asks while an answer is on its way gets the next one, together with all others who wait: a
 * Redis that has forgotten everything makes every account ask at once.
 */
function joined<T>(ask: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  function start(): Promise<T> {
    next = undefined;
    const started = ask();
    running = started;
    const end = (): void => {
      if (running === started) running = undefined;
    };
    started.then(end, end);
    return started;
  }
  return () => {
    if (running === undefined) return start();
    next ??= running.then(start, start);
    return next;
  };
}
