// Places in the order of a series, which is that of its key. A read goes through this order in pages,
// because customers decide how many rows of an hour or a day they have.

import { and, desc, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { Database } from '../../store/contract.ts';
import { createCut } from '../steps.ts';
import type { Series } from './figures.ts';

/** When a row begins, then the texts of its key. */
export type SeriesPlace = readonly [startMs: number, ...texts: string[]];

/** From a place on and before another. */
export type SeriesRange = { readonly from: SeriesPlace; readonly until: SeriesPlace };

/** Both databases order texts by their bytes in UTF-8. */
export function isPlaceBefore(one: SeriesPlace, other: SeriesPlace): boolean {
  const at = one.findIndex((part, index) => part !== other[index]);
  const [a = '', b = ''] = [one[at], other[at]];
  if (typeof a === 'number' && typeof b === 'number') return a < b;
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b))) < 0;
}

/** Before the first row that begins at an instant. */
export function placeAt(ms: number, key: readonly SQLiteColumn[]): SeriesPlace {
  return [ms, ...key.slice(1).map(() => '')];
}

/** Whether a row lies in a range, by the values of `rangeValues`. `key` begins with the start. */
export function isInRange(key: readonly SQLiteColumn[]): SQL {
  const row = sql`(${sql.join([...key], sql`, `)})`;
  return sql`${row} >= ${placeholderOf('from', key)} and ${row} < ${placeholderOf('until', key)}`;
}

export function rangeValues({ from, until }: SeriesRange): Record<string, string | number> {
  return { ...valuesOf('from', from), ...valuesOf('until', until) };
}

/**
 * Cuts reads into pages of at most `pageRows` rows. `isOwn` is what the rows of a read have in
 * common; each read gives the values of its placeholders, and the first place that it may read.
 */
export function prepareCut(
  { db, prepare }: Database,
  table: Series,
  key: readonly SQLiteColumn[],
  isOwn: SQL | undefined,
  pageRows: number,
) {
  const { placeholder } = sql;
  const find = prepare<object, readonly [start: number | bigint, ...texts: string[]]>(
    db
      .select(Object.fromEntries(key.map((column, index) => [String(index), column])))
      .from(table)
      .where(and(isOwn, isInRange(key)))
      .orderBy(...key.map((column) => desc(column)))
      .limit(placeholder('one'))
      .offset(placeholder('others')),
  );
  return (own: object, from: SeriesPlace) =>
    createCut<SeriesPlace>(async (until) => {
      const range = rangeValues({ from, until });
      const row = await find.get({ ...own, ...range, one: 1, others: pageRows - 1 });
      if (row === undefined) return undefined;
      const [start, ...texts] = row;
      return [Number(start), ...texts];
    }, isPlaceBefore);
}

function placeholderOf(name: string, key: readonly SQLiteColumn[]): SQL {
  const parts = key.map((_, index) => sql.placeholder(`${name}${index}`));
  return sql`(${sql.join(parts, sql`, `)})`;
}

function valuesOf(name: string, place: SeriesPlace): Record<string, string | number> {
  return Object.fromEntries(place.map((part, index) => [`${name}${index}`, part]));
}
