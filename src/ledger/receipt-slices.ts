// Receipts as they are read: one, or a slice of an account's chain in pages. Nothing here writes or
// checks them.

import { and, asc, between, eq, gte, max, min } from 'drizzle-orm';
import type { Span } from '../core/calendar.ts';
import type { Queries } from '../store/contract.ts';
import { receipts } from '../store/money-tables.ts';

const PAGE = 500;

/** From the first to the last sequence. */
export type Slice = { readonly first: number; readonly last: number };

/** By the request or the movement that it is about. */
export function findReceipt(db: Queries, subject: string) {
  return db.select().from(receipts).where(eq(receipts.subject, subject)).get();
}

/**
 * The receipts of a span of time, or all of them; `undefined` where there are none. A slice begins
 * with the first receipt that is not before the span, and the next one where the next span does: so
 * each receipt is in one month, even where the clock was set back.
 */
export async function findSlice(
  db: Queries,
  accountId: string,
  span: Span | undefined,
): Promise<Slice | undefined> {
  const ofAccount = eq(receipts.accountId, accountId);
  const last = (
    await db
      .select({ last: max(receipts.sequence) })
      .from(receipts)
      .where(ofAccount)
      .get()
  )?.last;
  if (last === undefined || last === null) return undefined;
  const firstSince = async (ms: number): Promise<number> =>
    (
      await db
        .select({ first: min(receipts.sequence) })
        .from(receipts)
        .where(and(ofAccount, gte(receipts.at, ms)))
        .get()
    )?.first ?? last + 1;
  const slice =
    span === undefined
      ? { first: 1, last }
      : { first: await firstSince(span.fromMs), last: (await firstSince(span.untilMs)) - 1 };
  return slice.first > slice.last ? undefined : slice;
}

/** The bodies of a slice in the order of the chain, a page at a time. */
export async function* receiptPages(
  db: Queries,
  accountId: string,
  { first, last }: Slice,
  page = PAGE,
): AsyncGenerator<readonly string[], void, undefined> {
  for (let from = first; from <= last; from += page) {
    const to = Math.min(last, from + page - 1);
    const rows = await db
      .select({ body: receipts.body })
      .from(receipts)
      .where(and(eq(receipts.accountId, accountId), between(receipts.sequence, from, to)))
      .orderBy(asc(receipts.sequence))
      .all();
    yield rows.map(({ body }) => body);
  }
}
