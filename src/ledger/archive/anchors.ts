// Reads the anchors of archived months. Read-only.

import {
  and,
  asc,
  desc,
  eq,
  getTableColumns,
  gt,
  gte,
  inArray,
  lt,
  lte,
  max,
  min,
} from 'drizzle-orm';
import { createPause } from '../../async/yield.ts';
import { type Anchor, anchorBody } from '../../core/anchor.ts';
import type { Span } from '../../core/calendar.ts';
import { requestIdBytes } from '../../core/id.ts';
import { mayHaveId } from '../../core/id-filter.ts';
import type { Micro } from '../../core/money.ts';
import { archivedMonths } from '../../store/archive-tables.ts';
import type { Queries } from '../../store/contract.ts';
import { balances, requests } from '../../store/money-tables.ts';
import { accountNumber } from '../request-kinds.ts';

/** Without the filter of ids, which may be large. */
const { ids: _ids, ...ANCHOR } = getTableColumns(archivedMonths);

export type ArchivedMonth = Omit<typeof archivedMonths.$inferSelect, 'ids'> & {
  readonly accountId: string;
};

/** Where the books of an account begin: its receipts up to `sequence` are in archives. */
export type BooksStart = {
  readonly sequence: number;
  readonly head: Uint8Array;
  readonly posted: Micro;
  readonly month: string;
};

/** The hash that an anchor stores and its successor names. */
export function anchorHash(anchor: Anchor): Uint8Array {
  return Bun.SHA256.hash(anchorBody(anchor)) as Uint8Array;
}

/** `undefined` where nothing of the account is archived. */
export async function booksStart(db: Queries, accountId: string): Promise<BooksStart | undefined> {
  return db
    .select({
      sequence: archivedMonths.lastSequence,
      head: archivedMonths.head,
      posted: archivedMonths.closing,
      month: archivedMonths.month,
    })
    .from(archivedMonths)
    .innerJoin(balances, eq(balances.number, archivedMonths.account))
    .where(eq(balances.accountId, accountId))
    .orderBy(desc(archivedMonths.firstSequence))
    .limit(1)
    .get();
}

/** The archived months of an account that have a part of a period. */
export async function archivedWithin(
  db: Queries,
  accountId: string,
  span: Span | undefined,
): Promise<readonly ArchivedMonth[]> {
  const archives = await listArchives(db, accountId);
  if (span === undefined) return archives;
  return archives.filter(({ month }) => {
    const { fromMs, untilMs } = monthSpan(month);
    return fromMs < span.untilMs && untilMs > span.fromMs;
  });
}

/**
 * The months that have archived requests that started in a period, of one account or of all. A request
 * is in the month in which it ended. All fields are null where there are none.
 */
export async function archivedStarts(
  db: Queries,
  { fromMs, untilMs }: Span,
  accountId: string | undefined,
) {
  const { month, archivedAt, idsFrom, idsTo, requests: count } = archivedMonths;
  // None of a month before, except with a clock that was far ahead: it would name all later months.
  return db
    .select({ first: min(month), last: max(month), archivedAt: max(archivedAt) })
    .from(archivedMonths)
    .innerJoin(balances, eq(balances.number, archivedMonths.account))
    .where(
      and(
        lt(idsFrom, untilMs),
        gte(idsTo, fromMs),
        gt(count, 0),
        gte(month, monthOf(fromMs)),
        accountId === undefined ? undefined : eq(balances.accountId, accountId),
      ),
    )
    .get();
}

/** In the order of the chain; of one account, or of all, account by account. */
export async function listArchives(
  db: Queries,
  accountId?: string,
): Promise<readonly ArchivedMonth[]> {
  return selectArchives(db)
    .where(accountId === undefined ? undefined : eq(balances.accountId, accountId))
    .orderBy(asc(archivedMonths.account), asc(archivedMonths.firstSequence))
    .all();
}

function selectArchives(db: Queries) {
  return db
    .select({ ...ANCHOR, accountId: balances.accountId })
    .from(archivedMonths)
    .innerJoin(balances, eq(balances.number, archivedMonths.account));
}

/** One for each account and month, for ever. */
const ARCHIVES_A_PAGE = 500;

/** Those in a state, or all, in pages, in the order in which they were made. */
export async function* archivePages(
  db: Queries,
  state?: ArchivedMonth['state'],
  pageRows: number = ARCHIVES_A_PAGE,
): AsyncGenerator<readonly ArchivedMonth[], void, undefined> {
  for (let after = 0; ; ) {
    const page = await selectArchives(db)
      .where(
        and(
          gt(archivedMonths.number, after),
          state === undefined ? undefined : eq(archivedMonths.state, state),
        ),
      )
      .orderBy(asc(archivedMonths.number))
      .limit(pageRows)
      .all();
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < pageRows) return;
    after = last.number;
  }
}

/**
 * No request of the account in the database started earlier. Asks the rows and not the anchor: after
 * a clock was set back, requests start before the end of an archived month.
 */
export async function listedFromMs(db: Queries, accountId: string): Promise<number> {
  const row = await db
    .select({ startedAt: requests.startedAt })
    .from(requests)
    .where(eq(requests.account, accountNumber(accountId)))
    .orderBy(asc(requests.startedAt))
    .limit(1)
    .get();
  return row?.startedAt ?? 0;
}

/** The half-open interval of a month such as `2026-10`. */
export function monthSpan(month: string): Span {
  const fromMs = Date.parse(`${month}-01T00:00:00Z`);
  const [year = 0, of = 1] = month.split('-').map(Number);
  return { fromMs, untilMs: Date.UTC(year, of, 1) };
}

/** The UTC month of an instant. */
export function monthOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 7);
}

/**
 * The archives that may contain a request, of one account or of all. The right one is among them,
 * and one in some 2,000 others. Reads the filters in portions: those of all accounts are large.
 */
export async function archivesOfRequest(
  db: Queries,
  requestId: string,
  accountId?: string,
): Promise<readonly ArchivedMonth[]> {
  const id = requestIdBytes(requestId);
  const pause = createPause();
  const found: ArchivedMonth[] = [];
  for await (const portion of portionsAround(db, idTime(id), accountId)) {
    const rows = await db
      .select({ ...ANCHOR, accountId: balances.accountId, ids: archivedMonths.ids })
      .from(archivedMonths)
      .innerJoin(balances, eq(balances.number, archivedMonths.account))
      .where(inArray(archivedMonths.number, portion))
      .orderBy(asc(archivedMonths.number))
      .all();
    for (const { ids, ...row } of rows) if (mayHaveId(ids, id)) found.push(row);
    await pause();
  }
  return found;
}

const CANDIDATES_AT_ONCE = 500;

/** A filter has two bytes a request, so this is 2 MB; a larger filter is a portion of its own. */
const PORTION_REQUESTS = 1_000_000;

/** The numbers of archives whose ids are around a time, in portions whose filters fit in memory. */
async function* portionsAround(
  db: Queries,
  at: number,
  accountId: string | undefined,
): AsyncGenerator<number[]> {
  let after = 0;
  for (;;) {
    const candidates = await db
      .select({ number: archivedMonths.number, requests: archivedMonths.requests })
      .from(archivedMonths)
      .innerJoin(balances, eq(balances.number, archivedMonths.account))
      .where(
        and(
          gt(archivedMonths.number, after),
          lte(archivedMonths.idsFrom, at),
          gte(archivedMonths.idsTo, at),
          gt(archivedMonths.requests, 0),
          accountId === undefined ? undefined : eq(balances.accountId, accountId),
        ),
      )
      .orderBy(asc(archivedMonths.number))
      .limit(CANDIDATES_AT_ONCE)
      .all();
    yield* portionsOf(candidates);
    if (candidates.length < CANDIDATES_AT_ONCE) return;
    after = candidates.at(-1)?.number ?? after;
  }
}

function* portionsOf(
  candidates: readonly { readonly number: number; readonly requests: number }[],
): Generator<number[]> {
  let portion: number[] = [];
  let sum = 0;
  for (const { number, requests: count } of candidates) {
    if (portion.length > 0 && sum + count > PORTION_REQUESTS) {
      yield portion;
      portion = [];
      sum = 0;
    }
    portion.push(number);
    sum += count;
  }
  if (portion.length > 0) yield portion;
}

/** The milliseconds at the beginning of a request id; 0 for an id of another form. */
export function idTime(id: Uint8Array): number {
  if (id.length !== 16) return 0;
  let time = 0;
  for (const byte of id.subarray(0, 6)) time = time * 256 + byte;
  return time;
}
