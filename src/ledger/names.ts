// Assigns small numbers to the texts and price versions of the books. Each is written once, in its
// own transaction before the first row that uses it, and never changes. So cached numbers stay
// valid even if their batch is rolled back.

import { inArray } from 'drizzle-orm';
import { assert } from '../core/assert.ts';
import type { Price } from '../core/price.ts';
import { termsOfPrice } from '../core/price-terms.ts';
import { TextPacker } from '../core/shape.ts';
import type { Database } from '../store/contract.ts';
import { priceVersions, texts } from '../store/money-tables.ts';
import { bookedPrice, unknownOf } from './booked-names.ts';
import type { HoldCommand, LedgerRequest } from './contract.ts';

/** A price with its model and time. */
type PriceUse = Pick<HoldCommand, 'price' | 'model' | 'nowMs'>;

/** Above it the cache is emptied. */
const KNOWN_MAX = 100_000;

/** Bound on the shapes of one process: an upstream may produce any number of them. */
const SHAPES_MAX = 4_096;
/** In UTF-8: PostgreSQL indexes at most 2,704 bytes. */
const SHAPE_BYTES_MAX = 2_048;

export class Names {
  readonly #database: Database;
  readonly #numbers = new Map<string, number>();
  readonly #texts = new Map<number, string>();
  readonly #prices = new Map<number, Price>();
  readonly #priceNumbers = new Map<string, number>();
  /** Shapes that get their numbers with the next batch, and the count of earlier ones. */
  readonly #newShapes = new Set<string>();
  #learnedShapes = 0;

  /** `database` is open and migrated. */
  constructor(database: Database) {
    this.#database = database;
  }

  /** The number of a text in a batch. */
  numberOf(text: string): number {
    const number = this.#numbers.get(text);
    assert(number !== undefined, `the text ${text} has a number`);
    return number;
  }

  /** The text of a number in a row. */
  textOf(number: number): string {
    const text = this.#texts.get(number);
    assert(text !== undefined, `text ${number} is in the books`);
    return text;
  }

  priceNumberOf({ version }: Price): number {
    const number = this.#priceNumbers.get(version);
    assert(number !== undefined, `price version ${version} has a number`);
    return number;
  }

  priceOf(number: number): Price {
    const price = this.#prices.get(number);
    assert(price !== undefined, `price version ${number} is in the books`);
    return price;
  }

  /** The number of a shape; a new one gets its number with the next batch. */
  readonly shapeNumber = (shape: string): number | undefined => {
    const number = this.#numbers.get(shape);
    if (number !== undefined) return number;
    const isRoom = this.#learnedShapes + this.#newShapes.size < SHAPES_MAX;
    if (isRoom && Buffer.byteLength(shape) <= SHAPE_BYTES_MAX) this.#newShapes.add(shape);
    return undefined;
  };

  readonly packer = new TextPacker(this.shapeNumber);

  /**
   * Assigns numbers to all texts and prices of a batch. Skips the database where all are cached.
   */
  async learn(batch: readonly LedgerRequest[]): Promise<void> {
    if (this.#numbers.size > KNOWN_MAX) this.#forget();
    const unknown = new Set<string>();
    const uses = new Map<string, PriceUse>();
    const need = (text: string | undefined): void => {
      if (text !== undefined && !this.#numbers.has(text)) unknown.add(text);
    };
    const needPrice = (price: Price, model: string, nowMs: number): void => {
      const number = this.#priceNumbers.get(price.version);
      const known = number === undefined ? uses.get(price.version)?.price : this.priceOf(number);
      if (known === undefined) uses.set(price.version, { price, model, nowMs });
      else requireSame(price, known);
    };
    for (const { name, command } of batch) {
      if (name === 'hold') {
        need(command.keyId);
        need(command.family);
        need(command.model);
        need(command.boot);
        needPrice(command.price, command.model, command.nowMs);
      } else if (name === 'budget') {
        need(command.family);
      } else if ('served' in command && command.served !== undefined) {
        need(command.served.model);
        need(command.served.upstream);
        needPrice(command.served.price, command.served.model, command.nowMs);
      }
    }
    for (const shape of this.#newShapes) need(shape);
    // Cleared before the write: a shape that the database rejects fails only one batch.
    this.#learnedShapes += this.#newShapes.size;
    this.#newShapes.clear();
    if (unknown.size > 0 || uses.size > 0) await this.#write([...unknown], [...uses.values()]);
  }

  /** Reads texts and prices that other connections have written. */
  async read(textNumbers: Iterable<number | null>, prices: Iterable<number | null>): Promise<void> {
    const newTexts = unknownOf(textNumbers, this.#texts);
    const newPrices = unknownOf(prices, this.#prices);
    const { db } = this.#database;
    if (newTexts.length > 0) {
      for (const row of await db.select().from(texts).where(inArray(texts.number, newTexts))) {
        this.#know(row);
      }
    }
    if (newPrices.length > 0) {
      const isNew = inArray(priceVersions.number, newPrices);
      for (const row of await db.select().from(priceVersions).where(isNew)) this.#knowPrice(row);
    }
  }

  /** In the same order on all nodes, so that two of them never deadlock. */
  async #write(unknown: readonly string[], uses: readonly PriceUse[]): Promise<void> {
    const names = unknown.toSorted();
    const prices = uses.toSorted((one, other) =>
      one.price.version < other.price.version ? -1 : 1,
    );
    const written = await this.#database.concurrently(async (db) => {
      for (const text of names) await db.insert(texts).values({ text }).onConflictDoNothing();
      for (const { price, model, nowMs } of prices) {
        const row = { ...price, model, firstUsedAt: nowMs };
        await db.insert(priceVersions).values(row).onConflictDoNothing();
      }
      const versions = prices.map(({ price }) => price.version);
      const isUsed = inArray(priceVersions.version, versions);
      return {
        texts: await db.select().from(texts).where(inArray(texts.text, names)),
        prices: await db.select().from(priceVersions).where(isUsed),
      };
    });
    // Cached only after the commit: a number that was rolled back may be assigned again.
    for (const row of written.texts) this.#know(row);
    for (const row of written.prices) this.#knowPrice(row);
    for (const { price } of prices) requireSame(price, this.priceOf(this.priceNumberOf(price)));
  }

  #know({ number, text }: typeof texts.$inferSelect): void {
    this.#numbers.set(text, number);
    this.#texts.set(number, text);
  }

  #knowPrice(row: typeof priceVersions.$inferSelect): void {
    this.#prices.set(row.number, bookedPrice(row));
    this.#priceNumbers.set(row.version, row.number);
  }

  #forget(): void {
    for (const known of [this.#numbers, this.#texts, this.#prices, this.#priceNumbers]) {
      known.clear();
    }
  }
}

/** A version always stands for the same numbers. */
function requireSame(price: Price, known: Price): void {
  const isSame =
    known === price ||
    (known.input === price.input &&
      known.cachedInput === price.cachedInput &&
      known.cacheWrite === price.cacheWrite &&
      known.output === price.output &&
      termsOfPrice(known) === termsOfPrice(price));
  assert(isSame, `price version ${price.version} was used before with other prices`);
}
