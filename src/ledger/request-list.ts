// Lists the ended requests of an account, newest first, in pages. Matches may be rare among very
// many rows, so it reads only the hours in which the series have any. Read-only, in steps that
// yield to the event loop.

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
  /** Start times from `fromMs` on and before `untilMs`. */
  readonly fromMs?: number | undefined;
  readonly untilMs?: number | undefined;
};

/** A place in the list, which continues with older rows. Row 0 precedes its whole millisecond. */
export type RequestPlace = { readonly startedAt: number; readonly row: number };

export type RequestPage = {
  readonly rows: readonly ListedRequest[];
  /**
   * Where to continue; absent at the end. A page may hold fewer rows than requested, or none, and
   * still have a next one: the search is limited in time.
   */
  readonly next: RequestPlace | undefined;
};

const EVER_MS = Number.MAX_SAFE_INTEGER;

/** The time limit for the search of one page. */
const SEARCH_MS_MAX = 120;

/** A prefix of this length covers a few seconds of requests of all accounts. */
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

/** `monotonic` is a clock in milliseconds that never jumps; default: the process's own. */
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
    // The hours begin within the span, or contain its beginning.
    const firstHour = fromMs - (fromMs % HOUR_MS);
    const rows: ListedRequest[] = [];
    // Row 0 does not exist: every request of that millisecond was listed.
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

  /** Prepared once for all stretches of a search. */
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

  /** The newest requests with this id prefix, which has `REQUEST_PREFIX_MIN` characters. */
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
          // `unindexed`, so that the index by account is not used: ids begin with their time, so
          // few rows have this prefix.
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

/** The outcomes of usage records for each of the four endings. */
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
