// Reads and caches the texts to which rows of the books refer by number.

import { inArray } from 'drizzle-orm';
import { assert } from '../core/assert.ts';
import type { Database } from '../store/contract.ts';
import { texts } from '../store/money-tables.ts';

/** Above it the cache is emptied; upstreams may produce any number of shapes. */
const KNOWN_MAX = 20_000;

/** Reads the numbers that are not cached, and returns a lookup. */
type ReadTexts = (numbers: Iterable<number>) => Promise<(number: number) => string>;

/** `database` is migrated. */
export function createReadTexts({ db }: Database): ReadTexts {
  const known = new Map<number, string>();
  const textOf = (number: number): string => {
    const text = known.get(number);
    assert(text !== undefined, `text ${number} is in the books`);
    return text;
  };
  return async (numbers) => {
    const asked = new Set(numbers);
    if (known.size + asked.size > KNOWN_MAX) known.clear();
    const unknown = [...asked].filter((number) => !known.has(number));
    if (unknown.length === 0) return textOf;
    for (const row of await db.select().from(texts).where(inArray(texts.number, unknown))) {
      known.set(row.number, row.text);
    }
    return textOf;
  };
}
