// Lists the ended requests of an account, newest first, in pages. Matches may be rare among very
// many rows, so it reads only the hours in which the series have any. Read-only, in steps that
// yield to the event loop.

import {
  and,
  asc,
  between,
  count as countRows,
  desc,
  eq,
  gte,
  inArray,
  lt,
  type SQL,
  sql,
} from 'drizzle-orm';
import { createPause } from '../async/yield.ts';
import { requestIdRange } from '../core/id.ts';
import type { Database } from '../store/contract.ts';
import { isAfter, isBefore } from '../store/keyset.ts';
import { requests } from '../store/money-tables.ts';
import { usageRecords } from '../store/money-views.ts';
import { unindexed } from '../store/portable.ts';
import { listedFromMs } from './archive/anchors.ts';
import { accountNumber, isOfKind, isPossible, type RequestKind } from './request-kinds.ts';
import { createCandidates } from './series/candidates.ts';
import { HOUR_MS } from './series/figures.ts';
import { TOKENS_OF_RECORD } from './usage-records.ts';

export type ListedRequest = Pick<
  typeof usageRecords.$inferSelect,
  Exclude<keyof typeof LISTED_COLUMNS, 'row'>
> & { readonly row: number };

export type RequestFilter = RequestKind & {
  /** Start times from `fromMs` on and before `untilMs`. */
  readonly fromMs?: number | undefined;
  readonly untilMs?: number | undefined;
};

/** A place in the list, which continues with older rows. Row 0 precedes its whole millisecond. */
export type RequestPlace = { readonly startedAt: number; readonly row: number };

export type Counted = { readonly count: number; readonly isMore: boolean };

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

export const LISTED_COLUMNS = {
  requestId: usageRecords.requestId,
  accountId: usageRecords.accountId,
  keyId: usageRecords.keyId,
  format: usageRecords.format,
  stream: usageRecords.stream,
  modelRequested: usageRecords.modelRequested,
  modelServed: usageRecords.modelServed,
  upstream: usageRecords.upstream,
  outcome: usageRecords.outcome,
  ...TOKENS_OF_RECORD,
  usageBasis: usageRecords.usageBasis,
  charged: usageRecords.charged,
  debited: usageRecords.debited,
  loss: usageRecords.loss,
  endUser: usageRecords.endUser,
  startedAt: usageRecords.startedAt,
  endedAt: usageRecords.endedAt,
  failure: usageRecords.failure,
  row: usageRecords.number,
};

export type RequestList = ReturnType<typeof createRequestList>;

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
    const read = prepareRead(accountId, filter, after);
    const rows: ListedRequest[] = [];
    for await (const within of stretches(accountId, filter, after)) {
      rows.push(...(await read.all({ ...within, limit: limit + 1 - rows.length })));
      if (rows.length > limit) return { rows: rows.slice(0, limit), next: rows[limit - 1] };
      if (monotonic() > deadline && within.fromMs > (filter.fromMs ?? 0)) {
        return { rows, next: { startedAt: within.fromMs, row: 0 } };
      }
    }
    return { rows, next: undefined };
  }

  /** Counts up to `most`; `isMore` if there may be more, or the time did not suffice. */
  async function count(accountId: string, filter: RequestFilter, most: number): Promise<Counted> {
    const deadline = monotonic() + SEARCH_MS_MAX;
    let sum = 0;
    for await (const { fromMs, untilMs } of stretches(accountId, filter)) {
      const found = db
        .select({ one: sql`1`.as('one') })
        .from(requests)
        .where(and(isWithin(accountId, fromMs, untilMs), ...isOfKind(filter)))
        .limit(most + 1 - sum)
        .as('found');
      sum += (await db.select({ rows: countRows() }).from(found).get())?.rows ?? 0;
      if (sum > most) return { count: most, isMore: true };
      if (monotonic() > deadline && fromMs > (filter.fromMs ?? 0)) {
        return { count: sum, isMore: true };
      }
    }
    return { count: sum, isMore: false };
  }

  /** The stretches of time that may have matches, newest first. */
  async function* stretches(accountId: string, filter: RequestFilter, after?: RequestPlace) {
    const { untilMs = EVER_MS, ...kind } = filter;
    // The series still have the hours of archived rows.
    const fromMs = Math.max(filter.fromMs ?? 0, await listedFromMs(db, accountId));
    if (!isPossible(kind)) return;
    const pause = createPause(monotonic);
    const nextStretch = await candidates(accountId, kind);
    // The hours begin within the span, or contain its beginning.
    const firstHour = fromMs - (fromMs % HOUR_MS);
    // Row 0 does not exist: every request of that millisecond was listed.
    const place = after === undefined ? EVER_MS : after.startedAt + Math.min(after.row, 1);
    let until = Math.min(untilMs, place);
    while (until > fromMs) {
      const span = { fromMs: firstHour, untilMs: until };
      const found = nextStretch === undefined ? span : await nextStretch(span);
      if (found === undefined) return;
      yield { ...found, fromMs: Math.max(fromMs, found.fromMs) };
      until = found.fromMs;
      await pause();
    }
  }

  /** Prepared once for all stretches of a search. */
  function prepareRead(accountId: string, kind: RequestKind, after: RequestPlace | undefined) {
    const { placeholder } = sql;
    const numbers = db
      .select({ number: requests.number })
      .from(requests)
      .where(
        and(
          isWithin(accountId, placeholder('fromMs'), placeholder('untilMs')),
          ...isOfKind(kind),
          after === undefined ? undefined : olderThan(after),
        ),
      )
      .orderBy(desc(requests.startedAt), desc(requests.number))
      .limit(placeholder('limit'));
    return db
      .select(LISTED_COLUMNS)
      .from(usageRecords)
      .where(inArray(usageRecords.number, numbers))
      .orderBy(desc(usageRecords.startedAt), desc(usageRecords.number))
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
      .select(LISTED_COLUMNS)
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

  /** The ids of the next newer and of the next older request of the account. */
  async function neighbours(
    accountId: string,
    requestId: string,
  ): Promise<readonly [newer: string | null, older: string | null]> {
    const isOwn = eq(requests.account, accountNumber(accountId));
    const { id, number: row, startedAt } = requests;
    const place = await db
      .select({ row, startedAt })
      .from(requests)
      .where(and(eq(id, requestId), isOwn))
      .get();
    if (place === undefined) return [null, null];
    const next = (isNext: SQL | undefined, ...order: SQL[]) =>
      db
        .select({ id })
        .from(requests)
        .where(and(isOwn, isNext))
        .orderBy(...order)
        .limit(1)
        .get();
    const [newer, older] = await Promise.all([
      next(newerThan(place), asc(startedAt), asc(row)),
      next(olderThan(place), desc(startedAt), desc(row)),
    ]);
    return [newer?.id ?? null, older?.id ?? null];
  }

  return { list, count, search, neighbours };
}

type Instant = number | ReturnType<typeof sql.placeholder>;

function isWithin(accountId: string, fromMs: Instant, untilMs: Instant): SQL | undefined {
  return and(
    eq(requests.account, accountNumber(accountId)),
    gte(requests.startedAt, fromMs),
    lt(requests.startedAt, untilMs),
  );
}

const ORDER = [requests.startedAt, requests.number] as const;

const olderThan = ({ startedAt, row }: RequestPlace): SQL => isBefore(ORDER, [startedAt, row]);

const newerThan = ({ startedAt, row }: RequestPlace): SQL => isAfter(ORDER, [startedAt, row]);
