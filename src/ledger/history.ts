// Reads the requests that earlier processes admitted, so that a restart resets neither the windows
// nor the caps of an account. Used by the limits; read-only.

import { and, desc, eq, gte, lt, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { Span } from '../core/calendar.ts';
import { SLICE_TOKENS } from '../core/price.ts';
import type { Database } from '../store/contract.ts';
import { holds, usageRecords } from '../store/money-views.ts';
import { smaller, unindexed } from '../store/portable.ts';
import { usageDays } from '../store/series-tables.ts';
import { TAIL_MAX } from './series/buckets.ts';
import { isInRows, prepareSeriesStatements } from './series/statements.ts';

/** Page size for ended requests, latest first. */
const PAGE_ROWS = 1_000;

const value = sql.placeholder;

export function createHistory(database: Database) {
  const { last } = prepareSeriesStatements(database);
  const admitted = prepareAdmitted(database);
  return {
    /** Requests that started at or after an instant, newest first, of all accounts or of one. */
    async admittedSince(sinceMs: number, accountId?: string): Promise<readonly Admission[]> {
      const found = await (accountId === undefined
        ? admitted.ofAll(sinceMs)
        : admitted.ofOne(sinceMs, accountId));
      // A request that ends between the two reads is in both.
      return [...new Map(found.map((each) => [each.requestId, each])).values()]
        .filter(({ startedAt }) => startedAt >= sinceMs)
        .sort((one, other) => other.startedAt - one.startedAt)
        .map(({ accountId, model, startedAt, tokens }) => ({
          accountId,
          model,
          startedAt,
          tokens,
        }));
    },
    /** Marks the present end of the usage records; later ones come after it. */
    mark: joined(() => database.settled(last)),
    /** Input and output tokens of requests that started within whole UTC days, as of a mark. */
    usedBefore: createUsedBefore(database),
  };
}

/** An admitted request, with what its windows were charged. */
type Admission = {
  readonly accountId: string;
  readonly model: string;
  readonly startedAt: number;
  readonly tokens: number;
};

type AdmittedRequest = Admission & { readonly requestId: string };

/** Reads open ones first, so that a request that ends in between is not missed. */
function prepareAdmitted({ db }: Database) {
  const charged = (prompt: SQLiteColumn, bound: SQLiteColumn) =>
    sql`${prompt} + ${smaller(bound, sql.raw(String(SLICE_TOKENS)))}`.mapWith(Number);
  const ofHold = {
    requestId: holds.requestId,
    accountId: holds.accountId,
    model: holds.model,
    startedAt: holds.startedAt,
    tokens: charged(holds.promptTokens, holds.outputBound),
  };
  const ofRecord = {
    requestId: usageRecords.requestId,
    accountId: usageRecords.accountId,
    model: usageRecords.modelRequested,
    startedAt: usageRecords.startedAt,
    tokens: charged(usageRecords.estimatedPromptTokens, usageRecords.outputBound),
    endedAt: usageRecords.endedAt,
    number: usageRecords.number,
  };
  const open = db.select(ofHold).from(holds).prepare();
  const openOfOne = db
    .select(ofHold)
    .from(holds)
    .where(eq(holds.accountId, value('accountId')))
    .prepare();
  const ended = db
    .select(ofRecord)
    .from(usageRecords)
    .where(lt(usageRecords.number, value('below')))
    .orderBy(desc(usageRecords.number))
    .limit(PAGE_ROWS)
    .prepare();
  const endedOfOne = db
    .select(ofRecord)
    .from(usageRecords)
    .where(
      and(
        eq(usageRecords.accountId, value('accountId')),
        gte(usageRecords.startedAt, value('sinceMs')),
      ),
    )
    .prepare();
  return {
    ofOne: async (sinceMs: number, accountId: string): Promise<AdmittedRequest[]> => [
      ...(await openOfOne.all({ accountId })),
      ...(await endedOfOne.all({ accountId, sinceMs })),
    ],
    /** There is no index by time; those that ended since are the last rows. */
    async ofAll(sinceMs: number): Promise<AdmittedRequest[]> {
      const found: AdmittedRequest[] = await open.all();
      for (let below = Number.MAX_SAFE_INTEGER; ; ) {
        const page = await ended.all({ below });
        found.push(...page);
        // A database failure may delay single records, but never fills a whole page with them.
        if (!page.some(({ endedAt }) => endedAt >= sinceMs)) return found;
        below = page.at(-1)?.number ?? 0;
      }
    },
  };
}

/**
 * The series hold most of it in a few rows. They may move on while a mark is in use: the records
 * between the two are added or subtracted.
 */
function createUsedBefore(database: Database) {
  const { db } = database;
  const { mark: markOfSeries } = prepareSeriesStatements(database);
  const tokens = (input: SQLiteColumn, output: SQLiteColumn) => ({
    tokens: sql`coalesce(sum(${input} + ${output}), 0)`.mapWith(Number),
  });
  const ofDays = db
    .select(tokens(usageDays.inputTokens, usageDays.outputTokens))
    .from(usageDays)
    .where(
      and(
        eq(usageDays.accountId, value('accountId')),
        gte(usageDays.day, value('fromMs')),
        lt(usageDays.day, value('untilMs')),
      ),
    )
    .prepare();
  const between = (account: SQL) => {
    const { startedAt, number } = usageRecords;
    return db
      .select(tokens(usageRecords.inputTokens, usageRecords.outputTokens))
      .from(usageRecords)
      .where(
        and(
          eq(account, value('accountId')),
          gte(startedAt, value('fromMs')),
          lt(startedAt, value('untilMs')),
          isInRows(number),
        ),
      )
      .prepare();
  };
  // `unindexed`, so that the index by account is not used: it would read more rows than these few.
  const few = between(unindexed(usageRecords.accountId));
  const many = between(sql`${usageRecords.accountId}`);
  return (accountId: string, { fromMs, untilMs }: Span, mark: number): Promise<number> =>
    database.snapshot(async () => {
      const asked = { accountId, fromMs, untilMs };
      const added = await markOfSeries();
      const range = { after: Math.min(added, mark), until: Math.max(added, mark) };
      const statement = range.until - range.after > TAIL_MAX ? many : few;
      const series = (await ofDays.get(asked))?.tokens ?? 0;
      const rest = (await statement.get({ ...asked, ...range }))?.tokens ?? 0;
      return series + (added > mark ? -rest : rest);
    });
}

/**
 * Callers that arrive during a read share the next one: when Redis has lost its data, all accounts
 * ask at once.
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
