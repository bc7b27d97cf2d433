// Lists the ended requests of all accounts in the order in which they ended, newest first, for the
// operator. Row numbers rise with every settlement, so a search reads ranges of them, backwards,
// until its time is over. Read-only.

import { and, desc, gte, inArray, lt, sql } from 'drizzle-orm';
import { createPause } from '../async/yield.ts';
import type { Database } from '../store/contract.ts';
import { requests } from '../store/money-tables.ts';
import { usageRecords } from '../store/money-views.ts';
import { isOfKind, isPossible } from './request-kinds.ts';
import {
  LISTED_COLUMNS,
  type ListedRequest,
  type RequestFilter,
  type RequestPage,
} from './request-list.ts';
import type { RequestPlace } from './request-pieces.ts';
import { prepareSeriesStatements } from './series/statements.ts';

/** The time limit for the search of one page. */
const SEARCH_MS_MAX = 120;

/** Rows that one statement reads where few match: some 5 ms. */
const RANGE_ROWS = 10_000;

/** How far the clocks of nodes may differ. */
const CLOCKS_MS = 60_000;

/** A request that runs longer than this may be missing from a list of a past time. */
const LONGEST_MS = 3_600_000 + CLOCKS_MS;

export type NewestRequests = ReturnType<typeof createNewestRequests>;

/** `monotonic` is a clock in milliseconds that never jumps; default: the process's own. */
export function createNewestRequests(database: Database, monotonic = () => performance.now()) {
  const { db } = database;
  const { first, last } = prepareSeriesStatements(database);
  const endOfRow = db
    .select({
      number: requests.number,
      startedAt: requests.startedAt,
      durationMs: requests.durationMs,
    })
    .from(requests)
    .where(gte(requests.number, sql.placeholder('number')))
    .orderBy(requests.number)
    .limit(1)
    .prepare();

  /** Rows with numbers from `from` on and before `until`. */
  async function read(
    filter: RequestFilter,
    limit: number,
    from: number,
    until: number,
  ): Promise<ListedRequest[]> {
    const { fromMs, untilMs, ...kind } = filter;
    const numbers = db
      .select({ number: requests.number })
      .from(requests)
      .where(
        and(
          gte(requests.number, from),
          lt(requests.number, until),
          fromMs === undefined ? undefined : gte(requests.startedAt, fromMs),
          untilMs === undefined ? undefined : lt(requests.startedAt, untilMs),
          ...isOfKind(kind),
        ),
      )
      .orderBy(desc(requests.number))
      .limit(limit);
    return db
      .select(LISTED_COLUMNS)
      .from(usageRecords)
      .where(inArray(usageRecords.number, numbers))
      .orderBy(desc(usageRecords.number))
      .all();
  }

  /** When the request with this number or the next lower one started. */
  async function startOf(number: number): Promise<number> {
    const row = await db
      .select({ startedAt: requests.startedAt })
      .from(requests)
      .where(lt(requests.number, number + 1))
      .orderBy(desc(requests.number))
      .limit(1)
      .get();
    return row?.startedAt ?? 0;
  }

  /** The first row between two numbers that ended at an instant or later, as the nodes' clocks say. */
  async function rowEndingAt(atMs: number, from: number, until: number): Promise<number> {
    let [low, high] = [from, until];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const row = await endOfRow.get({ number: middle });
      if (row === undefined || row.startedAt + row.durationMs >= atMs) high = middle;
      else low = row.number + 1;
    }
    return low;
  }

  /** The rows among which all requests of a time are: they end after they start, and not much later. */
  async function rowsOf({ fromMs, untilMs }: RequestFilter) {
    const begin = await first();
    const end = (await last()) + 1;
    return {
      begin: fromMs === undefined ? begin : await rowEndingAt(fromMs - CLOCKS_MS, begin, end),
      end: untilMs === undefined ? end : await rowEndingAt(untilMs + LONGEST_MS, begin, end),
    };
  }

  return {
    /** Only the row of a place counts here. */
    async list(filter: RequestFilter, limit: number, after?: RequestPlace): Promise<RequestPage> {
      if (!isPossible(filter)) return { rows: [], next: undefined };
      const deadline = monotonic() + SEARCH_MS_MAX;
      const pause = createPause(monotonic);
      const rows: ListedRequest[] = [];
      const { begin, end } = await rowsOf(filter);
      let until = Math.min(end, after?.row ?? end);
      while (until > begin) {
        const from = Math.max(begin, until - RANGE_ROWS);
        rows.push(...(await read(filter, limit + 1 - rows.length, from, until)));
        if (rows.length > limit) return { rows: rows.slice(0, limit), next: rows[limit - 1] };
        until = from;
        if (monotonic() > deadline && until > begin) {
          return { rows, next: { startedAt: await startOf(until), row: until } };
        }
        await pause();
      }
      return { rows, next: undefined };
    },

    /**
     * Requests that ended after a row, oldest first, and the last row up to which none is missing.
     */
    async since(
      filter: RequestFilter,
      after: number,
      limit: number,
    ): Promise<{ readonly rows: readonly ListedRequest[]; readonly last: number }> {
      const until = await database.settled(last);
      if (until <= after || !isPossible(filter)) return { rows: [], last: until };
      const from = Math.max(after + 1, until + 1 - RANGE_ROWS);
      return { rows: await read(filter, limit, from, until + 1), last: until };
    },
    last,
  };
}
