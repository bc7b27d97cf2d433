// Reads a slice of an account's chain of receipts, in pages. Does not verify them.

import { and, gte, lt, min, type SQL, sql } from 'drizzle-orm';
import { createPause } from '../async/yield.ts';
import type { Span } from '../core/calendar.ts';
import { receiptBody } from '../core/receipt.ts';
import type { Queries } from '../store/contract.ts';
import { movements, requests } from '../store/money-tables.ts';
import { booksStart } from './archive/anchors.ts';
import { chainState, ofAccount, ReceiptReader } from './booked-receipts.ts';

const PAGE = 500;

/** Receipts that one statement of a search reads: a few milliseconds. */
const STEP = 2_000;

const EVER_MS = Number.MAX_SAFE_INTEGER;

/** From the first to the last sequence. */
export type Slice = { readonly first: number; readonly last: number };

/**
 * The receipts of a period, or all of them, as far as they are not archived; `undefined` where there
 * are none. A slice begins with the first receipt at or after the start of its period and ends where
 * the slice of the next period begins. So each receipt is in exactly one month, even if the clock was
 * set back.
 */
export async function findSlice(
  db: Queries,
  accountId: string,
  span: Span | undefined,
  { only, step }: { readonly only?: 'movements' | undefined; readonly step?: number } = {},
): Promise<Slice | undefined> {
  const last = (await chainState(db, accountId))?.sequence ?? 0;
  // Movements stay when their month is archived.
  const start = only === 'movements' ? undefined : await booksStart(db, accountId);
  /** The first receipt from `first` on that was written at `ms` or later. */
  const since = async (first: number, ms: number): Promise<number> => {
    if (ms === EVER_MS) return last + 1;
    const within = { fromMs: ms, untilMs: EVER_MS };
    return (await firstWithin(db, accountId, { first, last }, within, step)) ?? last + 1;
  };
  const { fromMs, untilMs } = span ?? { fromMs: 0, untilMs: EVER_MS };
  const begin = (start?.sequence ?? 0) + 1;
  const first = span === undefined ? begin : await since(begin, fromMs);
  // A later period begins no earlier, so the search goes on from there.
  const slice = { first, last: (await since(first, untilMs)) - 1 };
  return slice.first > slice.last ? undefined : slice;
}

/**
 * The first receipt of a slice that was written in a period. No index has the time of a receipt,
 * so it reads the slice in order, in steps that yield to the event loop.
 */
export async function firstWithin(
  db: Queries,
  accountId: string,
  { first, last }: Slice,
  { fromMs, untilMs }: Span,
  step = STEP,
): Promise<number | undefined> {
  const pause = createPause();
  const firstOf = async (
    table: typeof requests | typeof movements,
    at: SQL,
    from: number,
  ): Promise<number> => {
    const isMeant = and(
      ofAccount(table, accountId),
      gte(table.sequence, from),
      lt(table.sequence, Math.min(last + 1, from + step)),
      gte(at, fromMs),
      lt(at, untilMs),
    );
    const row = await db
      .select({ first: min(table.sequence) })
      .from(table)
      .where(isMeant)
      .get();
    return row?.first ?? Number.POSITIVE_INFINITY;
  };
  for (let from = first; from <= last; from += step) {
    const found = Math.min(
      await firstOf(requests, sql`${requests.startedAt} + ${requests.durationMs}`, from),
      await firstOf(movements, sql`${movements.at}`, from),
    );
    if (Number.isFinite(found)) return found;
    await pause();
  }
  return undefined;
}

/** The texts of a slice in the order of the chain, in pages. */
export async function* receiptPages(
  db: Queries,
  accountId: string,
  { first, last }: Slice,
  page = PAGE,
): AsyncGenerator<readonly string[], void, undefined> {
  const receipts = new ReceiptReader(db);
  for (let from = first; from <= last; from += page) {
    const rows = await receipts.read(accountId, {
      after: from - 1,
      before: Math.min(last + 1, from + page),
      limit: page,
      order: 'oldest first',
    });
    yield rows.map(({ receipt }) => receiptBody(receipt));
  }
}
