// Reads a slice of an account's chain of receipts, in pages. Does not verify them.

import { and, gt, gte, lt, min, type SQL, sql } from 'drizzle-orm';
import type { Span } from '../core/calendar.ts';
import { receiptBody } from '../core/receipt.ts';
import type { Queries } from '../store/contract.ts';
import { movements, requests } from '../store/money-tables.ts';
import { booksStart } from './archive/anchors.ts';
import { chainState, ofAccount, ReceiptReader } from './booked-receipts.ts';

const PAGE = 500;

/** From the first to the last sequence. */
export type Slice = { readonly first: number; readonly last: number };

/**
 * The receipts of a period, or all of them, as far as they are not archived; `undefined` where there
 * are none. A slice begins with
 * the first receipt at or after the start of its period and ends where the slice of the next period
 * begins. So each receipt is in exactly one month, even if the clock was set back.
 */
export async function findSlice(
  db: Queries,
  accountId: string,
  span: Span | undefined,
  only: 'everything' | 'movements' = 'everything',
): Promise<Slice | undefined> {
  const last = (await chainState(db, accountId))?.sequence ?? 0;
  // Movements stay when their month is archived.
  const start = only === 'movements' ? undefined : await booksStart(db, accountId);
  const archived = start?.sequence ?? 0;
  const since = async (ms: number) =>
    (await firstWithin(db, accountId, archived, {
      fromMs: ms,
      untilMs: Number.MAX_SAFE_INTEGER,
    })) ?? last + 1;
  const slice =
    span === undefined
      ? { first: archived + 1, last }
      : { first: await since(span.fromMs), last: (await since(span.untilMs)) - 1 };
  return slice.first > slice.last ? undefined : slice;
}

/** The first receipt after `after` that was written in a period. */
export async function firstWithin(
  db: Queries,
  accountId: string,
  after: number,
  { fromMs, untilMs }: Span,
): Promise<number | undefined> {
  const firstOf = async (table: typeof requests | typeof movements, at: SQL): Promise<number> => {
    const isMeant = and(
      ofAccount(table, accountId),
      gt(table.sequence, after),
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
  const first = Math.min(
    await firstOf(requests, sql`${requests.startedAt} + ${requests.durationMs}`),
    await firstOf(movements, sql`${movements.at}`),
  );
  return Number.isFinite(first) ? first : undefined;
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
