// Lists are paged by key, never by offset, so every page costs the same.

import { type Static, Type } from '@sinclair/typebox';
import type { ListedRequest, RequestPage, RequestPlace } from '../../ledger/request-list.ts';
import { DashboardError } from './error.ts';

/** The query fields of every list; spread them into a route's query. */
export const PAGE_QUERY = {
  limit: Type.Optional(Type.String({ pattern: '^[1-9]\\d{0,2}$' })),
  /** The `next` of the previous page. */
  after: Type.Optional(Type.String({ minLength: 1, maxLength: 200, pattern: '^[\\w.:-]+$' })),
};

type PageQuery = { readonly [Key in keyof typeof PAGE_QUERY]?: Static<(typeof PAGE_QUERY)[Key]> };

export type Page = { readonly limit: number; readonly after: string | undefined };

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 200;

export function readPage(query: PageQuery): Page {
  const limit = Math.min(Number(query.limit ?? LIMIT_DEFAULT), LIMIT_MAX);
  return { limit, after: query.after };
}

/** An integer cursor, such as a row number. */
function numberAfter({ after }: Page): number | undefined {
  if (after === undefined) return undefined;
  if (/^\d{1,15}$/.test(after)) return Number(after);
  throw wrongCursor();
}

/** Request cursors combine the start time with the row, because several can start at once. */
export function readRequestPlace({ after }: Page): RequestPlace | undefined {
  if (after === undefined) return undefined;
  const [, startedAt, row] = /^(\d{1,15})\.(\d{1,15})$/.exec(after) ?? [];
  if (startedAt !== undefined) return { startedAt: Number(startedAt), row: Number(row) };
  throw wrongCursor();
}

export function requestList<Shown>(
  { rows, next }: RequestPage,
  show: (row: ListedRequest) => Shown,
): List<Shown> {
  const cursor = next === undefined ? null : `${next.startedAt}.${next.row}`;
  return { object: 'list', data: rows.map(show), next: cursor };
}

function wrongCursor(): DashboardError {
  return new DashboardError('invalid_request', 'The field after of the query is not valid.', {
    param: 'after',
  });
}

export type List<Row> = {
  readonly object: 'list';
  readonly data: readonly Row[];
  /** The `after` value of the next page; null at the end. */
  readonly next: string | null;
};

/** A list returned as a whole. */
export function wholeList<Row>(data: readonly Row[]): List<Row> {
  return { object: 'list', data, next: null };
}

/** Newest first by row number. `read` is called for one row more than the page shows. */
export async function numberedList<Row, Shown>(
  query: PageQuery,
  read: (page: { limit: number; before: number | undefined }) => Promise<readonly Row[]>,
  show: (row: Row) => Shown,
  numberOf: (row: Row) => number,
): Promise<List<Shown>> {
  const page = readPage(query);
  const rows = await read({ limit: page.limit + 1, before: numberAfter(page) });
  return listOf(rows, page, show, (row) => String(numberOf(row)));
}

/** `rows` contains one extra row if there is a next page. */
export function listOf<Row, Shown>(
  rows: readonly Row[],
  { limit }: Page,
  show: (row: Row) => Shown,
  cursor: (row: Row) => string,
): List<Shown> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    object: 'list',
    data: shown.map(show),
    next: rows.length > limit && last !== undefined ? cursor(last) : null,
  };
}
