// The texts and prices to which rows of the books refer by number. Neither ever changes, so each is
// read once.

import { inArray } from 'drizzle-orm';
import type { Price } from '../core/price.ts';
import type { Queries } from '../store/contract.ts';
import { priceVersions, texts } from '../store/money-tables.ts';

/** Above it the cache is emptied; upstreams may produce any number of texts. */
const KNOWN_MAX = 20_000;

type Numbers = readonly (number | null)[];

export class BookedNames {
  readonly #texts = new Map<number, string>();
  readonly #prices = new Map<number, Price>();

  /** Reads the given numbers that are not cached. Look them up before the next read. */
  async read(db: Queries, textNumbers: Numbers, priceNumbers: Numbers = []): Promise<void> {
    if (this.#texts.size > KNOWN_MAX) this.#texts.clear();
    const newTexts = unknownOf(textNumbers, this.#texts);
    const newPrices = unknownOf(priceNumbers, this.#prices);
    if (newTexts.length > 0) {
      const found = await db.select().from(texts).where(inArray(texts.number, newTexts));
      for (const { number, text } of found) this.#texts.set(number, text);
    }
    if (newPrices.length > 0) {
      const isNew = inArray(priceVersions.number, newPrices);
      for (const row of await db.select().from(priceVersions).where(isNew)) {
        this.#prices.set(row.number, bookedPrice(row));
      }
    }
  }

  /** Whether the books have all of them. Read them first. */
  has(textNumbers: Numbers, priceNumbers: Numbers): boolean {
    const isKnown = (numbers: Numbers, known: ReadonlyMap<number, unknown>): boolean =>
      numbers.every((number) => number === null || known.has(number));
    return isKnown(textNumbers, this.#texts) && isKnown(priceNumbers, this.#prices);
  }

  /** Throws `RangeError` for a number that was not read. */
  readonly text = (number: number): string => found(this.#texts.get(number), 'text', number);

  /** Throws `RangeError` for a number that was not read. */
  price(number: number): Price {
    return found(this.#prices.get(number), 'price version', number);
  }
}

export function bookedPrice(row: typeof priceVersions.$inferSelect): Price {
  const { number: _, model: _model, firstUsedAt: _at, terms, ...price } = row;
  return terms === null ? price : { ...price, terms };
}

/** Those of the given numbers that are not known, each once. */
export function unknownOf(
  numbers: Iterable<number | null>,
  known: ReadonlyMap<number, unknown>,
): number[] {
  const unknown = new Set<number>();
  for (const number of numbers) {
    if (number !== null && !known.has(number)) unknown.add(number);
  }
  return [...unknown];
}

function found<T>(value: T | undefined, what: string, number: number): T {
  if (value === undefined) throw new RangeError(`There is no ${what} ${number}.`);
  return value;
}
