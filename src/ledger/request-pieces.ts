// Cuts a search through the requests of an account into pieces, newest first: the hours in which the
// series have any match, and within them some thousand rows at a time. Yields to the event loop
// between two pieces. Used by the list of requests.

import { and, desc, eq, type Placeholder, type SQL, sql } from 'drizzle-orm';
import { createPause } from '../async/yield.ts';
import type { Database, Queries } from '../store/contract.ts';
import { isAfter, isBefore } from '../store/keyset.ts';
import { requests } from '../store/money-tables.ts';
import { listedFromMs } from './archive/anchors.ts';
import { accountNumber, isPossible, type RequestKind } from './request-kinds.ts';
import { createCandidates } from './series/candidates.ts';
import { HOUR_MS } from './series/figures.ts';
import { createCut } from './steps.ts';

/** A place in the list, which continues with older rows. Row 0 precedes its whole millisecond. */
export type RequestPlace = { readonly startedAt: number; readonly row: number };

/** From a place on and before a newer one. */
type Piece = { readonly from: RequestPlace; readonly until: RequestPlace };

/** All matches from an instant on and before a place lie in the pieces. */
type Pieces = (
  accountId: string,
  kind: RequestKind,
  fromMs: number,
  until: RequestPlace,
) => AsyncGenerator<Piece, void, undefined>;

/** `database` is migrated; `monotonic` is a clock in milliseconds that never jumps. */
export function createPieces(
  database: Database,
  monotonic: () => number,
  pieceRows: number,
): Pieces {
  const { db } = database;
  const candidates = createCandidates(database, pieceRows);

  return async function* pieces(accountId, kind, wantedFromMs, end) {
    // The series still have the hours of archived rows.
    const fromMs = Math.max(wantedFromMs, await listedFromMs(db, accountId));
    if (!isPossible(kind)) return;
    const pause = createPause(monotonic);
    const nextStretch = await candidates(accountId, kind, pause);
    const cut = createCut<RequestPlace>(prepareFind(db, accountId, pieceRows), isOlder);
    // The hours begin within the span, or contain its beginning.
    const firstHour = fromMs - (fromMs % HOUR_MS);
    let until = end;
    while (isOlder({ startedAt: fromMs, row: 0 }, until)) {
      // Row 0 does not exist: of that millisecond, no request is left.
      const span = { fromMs: firstHour, untilMs: until.startedAt + Math.min(until.row, 1) };
      const found = nextStretch === undefined ? span : await nextStretch(span);
      if (found === undefined) return;
      const from = { startedAt: Math.max(fromMs, found.fromMs), row: 0 };
      if (found.untilMs < span.untilMs) until = { startedAt: found.untilMs, row: 0 };
      while (isOlder(from, until)) {
        const piece = { from: await cut(from, until), until };
        yield piece;
        until = piece.from;
        await pause();
      }
    }
  };
}

/** Finds where the piece begins that ends at a place; undefined if all before it is one piece. */
function prepareFind(db: Queries, accountId: string, pieceRows: number) {
  const find = db
    .select({ startedAt: requests.startedAt, row: requests.number })
    .from(requests)
    .where(and(isOfAccount(accountId), olderThan(placeOf('until'))))
    .orderBy(desc(requests.startedAt), desc(requests.number))
    .limit(1)
    .offset(pieceRows - 1)
    .prepare();
  return async ({ startedAt, row }: RequestPlace): Promise<RequestPlace | undefined> =>
    find.get({ untilMs: startedAt, untilRow: row });
}

export function isOfAccount(accountId: string): SQL {
  return eq(requests.account, accountNumber(accountId));
}

/** By the values of `valuesOf`. */
export function isInPiece(accountId: string): SQL | undefined {
  return and(isOfAccount(accountId), newerThan(placeOf('from')), olderThan(placeOf('until')));
}

export function valuesOf({ from, until }: Piece): Record<string, number> {
  return {
    fromMs: from.startedAt,
    // The piece begins with this row.
    fromRow: from.row - 1,
    untilMs: until.startedAt,
    untilRow: until.row,
  };
}

export function isOlder(one: RequestPlace, other: RequestPlace): boolean {
  if (one.startedAt === other.startedAt) return one.row < other.row;
  return one.startedAt < other.startedAt;
}

type Place<Value> = { readonly startedAt: Value; readonly row: Value };

function placeOf(name: 'from' | 'until'): Place<Placeholder> {
  return { startedAt: sql.placeholder(`${name}Ms`), row: sql.placeholder(`${name}Row`) };
}

const ORDER = [requests.startedAt, requests.number] as const;

export function olderThan({ startedAt, row }: Place<number | Placeholder>): SQL {
  return isBefore(ORDER, [startedAt, row]);
}

export function newerThan({ startedAt, row }: Place<number | Placeholder>): SQL {
  return isAfter(ORDER, [startedAt, row]);
}
