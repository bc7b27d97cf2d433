// The requests of an account that have ended, newest first, a page at a time. What is asked for may be
// rare among very many: the series say in which hours there is any of it, and no others are looked
// through. It only reads, in pieces, and lets the event loop go between.

import { and, between, desc, eq, gte, inArray, lt, or, type SQL, sql } from 'drizzle-orm';
import { createPause } from '../async/yield.ts';
import type { Outcome } from '../core/generation.ts';
import { requestIdRange } from '../core/id.ts';
import type { Database } from '../store/contract.ts';
import { usageRecords } from '../store/money-views.ts';
import { unindexed } from '../store/portable.ts';
import { createCandidates, type RequestEnding, type RequestKind } from './series/candidates.ts';
import { endUserOfRecord, HOUR_MS, modelOfRecord } from './series/figures.ts';
import { TOKENS_OF_RECORD } from './usage-records.ts';

export type ListedRequest = Pick<
  typeof usageRecords.$inferSelect,
  Exclude<keyof typeof COLUMNS, 'row'>
> & { readonly row: number };

export type RequestFilter = RequestKind & {
  /** When it started: at or after `fromMs`, and before `untilMs`. */
  readonly fromMs?: number | undefined;
  readonly untilMs?: number | undefined;
};

/** A place in the list: what follows is older. Row 0 stands before the whole millisecond. */
export type RequestPlace = { readonly startedAt: number; readonly row: number };

export type RequestPage = {
  readonly rows: readonly ListedRequest[];
  /**
   * Where to go on; absent at the end. A page may hold fewer rows than were asked for, or none, and
   * still have a next one: the search was ended so that nobody waits long for it.
   */
  readonly next: RequestPlace | undefined;
};

const EVER_MS = Number.MAX_SAFE_INTEGER;

/** For how long one page is searched. */
const SEARCH_MS_MAX = 120;

/** A prefix of so many characters is that of a few seconds, the requests of all accounts together. */
export const REQUEST_PREFIX_MIN = 13;

const COLUMNS = {
  requestId: usageRecords.requestId,
  keyId: usageRecords.keyId,
  format: usageRecords.format,
  stream: usageRecords.stream,
  modelRequested: usageRecords.modelRequested,
  modelServed: usageRecords.modelServed,
  outcome: usageRecords.outcome,
  ...TOKENS_OF_RECORD,
  usageBasis: usageRecords.usageBasis,
  charged: usageRecords.charged,
  debited: usageRecords.debited,
  loss: usageRecords.loss,
  endUser: usageRecords.endUser,
  startedAt: usageRecords.startedAt,
  endedAt: usageRecords.endedAt,
  row: usageRecords.number,
};

/** `monotonic` are milliseconds of a clock that never jumps, the process's own where absent. */
export function createRequestList(database: Database, monotonic = () => performance.now()) {
  const { db } = database;
  const candidates = createCandidates(database);

  async function list(
    accountId: string,
    filter: RequestFilter,
    limit: number,
    after?: RequestPlace,
  ): Promise<RequestPage> {
    const deadline = monotonic() + SEARCH_MS_MAX;
    const pause = createPause(monotonic);
    const { fromMs = 0, untilMs = EVER_MS, ...kind } = filter;
    const nextStretch = await candidates(accountId, kind);
    const read = prepareRead(accountId, kind, after);
    // Hours begin within the span, or the span begins within the first of them.
    const firstHour = fromMs - (fromMs % HOUR_MS);
    const rows: ListedRequest[] = [];
    // Row 0 is none: everything that started in that very millisecond has been seen.
    const place = after === undefined ? EVER_MS : after.startedAt + Math.min(after.row, 1);
    let until = Math.min(untilMs, place);
    while (until > fromMs) {
      const span = { fromMs: firstHour, untilMs: until };
      const found = nextStretch === undefined ? span : await nextStretch(span);
      if (found === undefined) break;
      const within = { ...found, fromMs: Math.max(fromMs, found.fromMs) };
      rows.push(...(await read.all({ ...within, limit: limit + 1 - rows.length })));
      if (rows.length > limit) return { rows: rows.slice(0, limit), next: rows[limit - 1] };
      until = found.fromMs;
      if (monotonic() > deadline) return { rows, next: { startedAt: until, row: 0 } };
      await pause();
    }
    return { rows, next: undefined };
  }

  /** Prepared once for all the stretches of a search. */
  function prepareRead(accountId: string, kind: RequestKind, after: RequestPlace | undefined) {
    return db
      .select(COLUMNS)
      .from(usageRecords)
      .where(
        and(
          eq(usageRecords.accountId, accountId),
          gte(usageRecords.startedAt, sql.placeholder('fromMs')),
          lt(usageRecords.startedAt, sql.placeholder('untilMs')),
          ...conditions(kind),
          after === undefined ? undefined : olderThan(after),
        ),
      )
      .orderBy(desc(usageRecords.startedAt), desc(usageRecords.number))
      .limit(sql.placeholder('limit'))
      .prepare();
  }

  /** The newest ones whose id begins like this. A prefix has `REQUEST_PREFIX_MIN` characters. */
  async function search(
    accountId: string,
    prefix: string,
    limit: number,
  ): Promise<readonly ListedRequest[]> {
    const [first, last] = requestIdRange(prefix);
    return db
      .select(COLUMNS)
      .from(usageRecords)
      .where(
        and(
          between(sql`${usageRecords.requestId}`, first, last),
          // Unindexed, the index by account is not taken: ids begin with their time, so that
          // few requests of anybody begin like this.
          eq(unindexed(usageRecords.accountId), accountId),
        ),
      )
      .orderBy(desc(usageRecords.requestId))
      .limit(limit)
      .all();
  }

  return { list, search };
}

function conditions({ model, keyId, outcome, endUser }: RequestKind): (SQL | undefined)[] {
  return [
    model === undefined ? undefined : eq(modelOfRecord, model),
    keyId === undefined ? undefined : eq(usageRecords.keyId, keyId),
    outcome === undefined ? undefined : inArray(usageRecords.outcome, ENDINGS[outcome]),
    endUser === undefined ? undefined : eq(endUserOfRecord, endUser),
  ];
}

/** What records call each of the four ways to end. */
const ENDINGS: Readonly<Record<RequestEnding, Outcome[]>> = {
  completed: ['completed'],
  stopped_balance: ['stopped_balance'],
  client_cancelled: ['client_cancelled'],
  failed: ['upstream_failed', 'gateway_failed'],
};

function olderThan({ startedAt, row }: RequestPlace): SQL | undefined {
  return or(
    lt(usageRecords.startedAt, startedAt),
    and(eq(usageRecords.startedAt, startedAt), lt(usageRecords.number, row)),
  );
}
