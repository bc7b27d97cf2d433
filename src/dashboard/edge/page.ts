// Lists are paged by key, never by offset, so every page costs the same.

import { type Static, Type } from '@sinclair/typebox';
import type { LogEntry, LogPage, LogPlace } from '../../operations/request-log.ts';
import type { Order, SortedPage, SortPlace } from '../../store/keyset.ts';
import { type DashboardError, invalidRequest } from './error.ts';
import { oneOf } from './route.ts';

/** The query fields of every list; spread them into a route's query. */
export const PAGE_QUERY = {
  limit: Type.Optional(
    Type.String({
      pattern: '^[1-9]\\d{0,2}$',
      description: 'How many to list, at most 200. Default: 50.',
    }),
  ),
  after: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 500,
      pattern: '^[\\w.:~-]+$',
      description: 'The `next` of the previous page.',
    }),
  ),
};

export type PageQuery = {
  readonly [Key in keyof typeof PAGE_QUERY]?: Static<(typeof PAGE_QUERY)[Key]>;
};

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

/**
 * The cursor of a list of requests has a place in each of its two parts: the start time with the
 * row of an ended request, because several can start at once, and the time with the id of a refused
 * one.
 */
export function readLogPlace({ after }: Page): LogPlace | undefined {
  if (after === undefined) return undefined;
  const [, startedAt, row, at, id] =
    /^(?:(\d{1,15})\.(\d{1,15}))?~(?:(\d{1,15})\.(\w{1,64}))?$/.exec(after) ?? [];
  if (startedAt === undefined && at === undefined) throw wrongCursor();
  return {
    ended: startedAt === undefined ? undefined : { startedAt: Number(startedAt), row: Number(row) },
    refused: at === undefined || id === undefined ? undefined : { at: Number(at), id },
  };
}

export function logList<Shown>(
  { entries, next }: LogPage,
  show: (entry: LogEntry) => Shown,
): List<Shown> {
  return {
    object: 'list',
    data: entries.map(show),
    next: next === undefined ? null : logCursor(next),
  };
}

function logCursor({ ended, refused }: LogPlace): string {
  const first = ended === undefined ? '' : `${ended.startedAt}.${ended.row}`;
  return `${first}~${refused === undefined ? '' : `${refused.at}.${refused.id}`}`;
}

function wrongCursor(): DashboardError {
  return invalidRequest('The field after of the query is not valid.', 'after');
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

/**
 * The query fields of a list that the server sorts: `sort=cost` is ascending, `sort=-cost`
 * descending. Give each column of the page its field as `sort`.
 */
export function sortedQuery<const Field extends string>(fields: readonly Field[]) {
  const orders: readonly (Field | `-${Field}`)[] = fields.flatMap(
    (field) => [field, `-${field}`] as const,
  );
  const description = 'Ascending; with a minus, descending.';
  return { ...PAGE_QUERY, sort: Type.Optional(oneOf(orders, description)) };
}

/**
 * A page of a list in the order of the query. `read` is called for one row more than the page
 * shows; its SQL comes from `pageBy` of `store/keyset.ts`. The cursor carries the order, and is
 * rejected with another one. `texts` are the fields whose values are texts: a cursor with a value
 * of the other type is rejected, too.
 */
export async function sortedList<Row, Shown, Field extends string>(
  query: PageQuery & { readonly sort?: Field | `-${Field}` },
  initial: Field | `-${NoInfer<Field>}`,
  read: (page: SortedPage<Field>) => Promise<readonly Row[]>,
  show: (row: Row) => Shown,
  placeOf: (row: Row, field: Field) => SortPlace,
  texts: readonly NoInfer<Field>[],
): Promise<List<Shown>> {
  const page = readPage(query);
  const sort = query.sort ?? initial;
  const order = readOrder<Field>(sort);
  const after = page.after === undefined ? undefined : readPlace(sort, page.after);
  const isText = typeof after?.value === 'string';
  if (after && texts.includes(order.field) !== isText) throw wrongCursor();
  const rows = await read({ limit: page.limit + 1, order, after });
  return listOf(rows, page, show, (row) => placeCursor(sort, placeOf(row, order.field)));
}

function readOrder<Field extends string>(sort: Field | `-${Field}`): Order<Field> {
  // The query's schema admits no other fields.
  return { field: sort.replace(/^-/, '') as Field, descending: sort.startsWith('-') };
}

function placeCursor(sort: string, { value, tie }: SortPlace): string {
  const text =
    typeof value === 'string' ? `t${Buffer.from(value).toString('base64url')}` : `n${value}`;
  return `${sort}:${text}:${tie}`;
}

function readPlace(sort: string, cursor: string): SortPlace {
  const [, order, digits, text = '', tie] =
    /^(-?\w+):(?:n(-?\d{1,19})|t([\w-]*)):(\d{1,15})$/.exec(cursor) ?? [];
  const value = digits === undefined ? Buffer.from(text, 'base64url').toString() : BigInt(digits);
  // What no database can hold would end as an internal error.
  const isStored =
    typeof value === 'string' ? !value.includes('\0') : BigInt.asIntN(64, value) === value;
  if (order !== sort || !isStored) throw wrongCursor();
  return { value, tie: Number(tie) };
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
