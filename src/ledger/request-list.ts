// Lists the ended requests of an account, newest first, in pages. Matches may be rare among very
// many rows, so it reads only the hours in which the series have any. Read-only, in pieces of some
// thousand rows, between which it yields to the event loop.

import {
  and,
  asc,
  between,
  count as countRows,
  desc,
  eq,
  inArray,
  type SQL,
  sql,
} from 'drizzle-orm';
import { requestIdRange } from '../core/id.ts';
import type { Database } from '../store/contract.ts';
import { requests } from '../store/money-tables.ts';
import { usageRecords } from '../store/money-views.ts';
import { unindexed } from '../store/portable.ts';
import { isOfKind, type RequestKind } from './request-kinds.ts';
import {
  createPieces,
  isInPiece,
  isOfAccount,
  isOlder,
  newerThan,
  olderThan,
  type RequestPlace,
  valuesOf,
} from './request-pieces.ts';
import { PIECE_ROWS } from './steps.ts';
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

export type Counted = { readonly count: number; readonly isMore: boolean };

export type RequestPage = {
  readonly rows: readonly ListedRequest[];
  /**
   * Where to continue; absent at the end. A page may hold fewer rows than requested, or none, and
   * still have a next one: the search is limited in time.
   */
  readonly next: RequestPlace | undefined;
};

/** The time limit for the search of one page, which reads at least one piece. */
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

/**
 * `monotonic` is a clock in milliseconds that never jumps; default: the process's own. No statement
 * of a search reads more than `pieceRows` rows.
 */
export function createRequestList(
  database: Database,
  monotonic = () => performance.now(),
  pieceRows: number = PIECE_ROWS,
) {
  const { db } = database;
  const piecesOf = createPieces(database, monotonic, pieceRows);

  function pieces(accountId: string, filter: RequestFilter, after?: RequestPlace) {
    // No hour of the series says which receipts it has.
    const { fromMs = 0, untilMs = Number.MAX_SAFE_INTEGER, afterReceipt: _, ...kind } = filter;
    const end = { startedAt: untilMs, row: 0 };
    const until = after !== undefined && isOlder(after, end) ? after : end;
    return piecesOf(accountId, kind, fromMs, until);
  }

  async function list(
    accountId: string,
    filter: RequestFilter,
    limit: number,
    after?: RequestPlace,
  ): Promise<RequestPage> {
    const deadline = monotonic() + SEARCH_MS_MAX;
    const read = prepareRead(accountId, filter);
    const rows: ListedRequest[] = [];
    let isBegun = false;
    for await (const piece of pieces(accountId, filter, after)) {
      if (isBegun && monotonic() > deadline) return { rows, next: piece.until };
      isBegun = true;
      rows.push(...(await read.all({ ...valuesOf(piece), limit: limit + 1 - rows.length })));
      if (rows.length > limit) return { rows: rows.slice(0, limit), next: rows[limit - 1] };
    }
    return { rows, next: undefined };
  }

  /** Counts up to `most`; `isMore` if there may be more, or the time did not suffice. */
  async function count(accountId: string, filter: RequestFilter, most: number): Promise<Counted> {
    const deadline = monotonic() + SEARCH_MS_MAX;
    const read = prepareCount(accountId, filter);
    let sum = 0;
    let isBegun = false;
    for await (const piece of pieces(accountId, filter)) {
      if (isBegun && monotonic() > deadline) return { count: sum, isMore: true };
      isBegun = true;
      sum += (await read.get({ ...valuesOf(piece), limit: most + 1 - sum }))?.rows ?? 0;
      if (sum > most) return { count: most, isMore: true };
    }
    return { count: sum, isMore: false };
  }

  /** Prepared once for all pieces of a search. */
  function prepareRead(accountId: string, kind: RequestKind) {
    const numbers = db
      .select({ number: requests.number })
      .from(requests)
      .where(and(isInPiece(accountId), ...isOfKind(kind)))
      .orderBy(desc(requests.startedAt), desc(requests.number))
      .limit(sql.placeholder('limit'));
    return db
      .select(LISTED_COLUMNS)
      .from(usageRecords)
      .where(inArray(usageRecords.number, numbers))
      .orderBy(desc(usageRecords.startedAt), desc(usageRecords.number))
      .prepare();
  }

  function prepareCount(accountId: string, kind: RequestKind) {
    const found = db
      .select({ one: sql`1`.as('one') })
      .from(requests)
      .where(and(isInPiece(accountId), ...isOfKind(kind)))
      .limit(sql.placeholder('limit'))
      .as('found');
    return db.select({ rows: countRows() }).from(found).prepare();
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
    const isOwn = isOfAccount(accountId);
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
