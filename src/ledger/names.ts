// What the books call by small numbers: texts and price versions. Each is written down once, before
// the first row that names it and in a transaction of its own, and means the same for ever. So what
// is known stays known, whatever becomes of the batch that needed it.

import { inArray } from 'drizzle-orm';
import { assert } from '../core/assert.ts';
import type { Price } from '../core/price.ts';
import type { Database } from '../store/contract.ts';
import { priceVersions, texts } from '../store/money-tables.ts';
import type { HoldCommand, LedgerRequest } from './contract.ts';

/** A price, for which model, and when. */
type PriceUse = Pick<HoldCommand, 'price' | 'model' | 'nowMs'>;

/** Above it everything is looked up again. */
const KNOWN_MAX = 100_000;

/** Shapes that one process learns: an upstream may invent them without end. */
const SHAPES_MAX = 4_096;
/** In UTF-8: PostgreSQL takes no more than 2,704 bytes into an index. */
const SHAPE_BYTES_MAX = 2_048;

export class Names {
  readonly #database: Database;
  readonly #numbers = new Map<string, number>();
  readonly #texts = new Map<number, string>();
  readonly #prices = new Map<number, Price>();
  readonly #priceNumbers = new Map<string, number>();
  /** Shapes that get their numbers with the next batch, and how many were learned before. */
  readonly #newShapes = new Set<string>();
  #learnedShapes = 0;

  /** `database` is open and migrated. */
  constructor(database: Database) {
    this.#database = database;
  }

  /** The number of a text that a batch names. */
  numberOf(text: string): number {
    const number = this.#numbers.get(text);
    assert(number !== undefined, `the text ${text} has a number`);
    return number;
  }

  /** A text that a row names. */
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

  /** The number of a shape; one that has none yet gets it with the next batch. */
  readonly shapeNumber = (shape: string): number | undefined => {
    const number = this.#numbers.get(shape);
    if (number !== undefined) return number;
    const isRoom = this.#learnedShapes + this.#newShapes.size < SHAPES_MAX;
    if (isRoom && Buffer.byteLength(shape) <= SHAPE_BYTES_MAX) this.#newShapes.add(shape);
    return undefined;
  };

  /** Gives numbers to all that a batch names. Nothing is asked where all of it is known. */
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
        need(command.model);
        need(command.boot);
        needPrice(command.price, command.model, command.nowMs);
      } else if ('served' in command && command.served !== undefined) {
        need(command.served.model);
        need(command.served.upstream);
        needPrice(command.served.price, command.served.model, command.nowMs);
      }
    }
    for (const shape of this.#newShapes) need(shape);
    // Before they are written: one that the database refuses fails one batch, and not every later one.
    this.#learnedShapes += this.#newShapes.size;
    this.#newShapes.clear();
    if (unknown.size > 0 || uses.size > 0) await this.#write([...unknown], [...uses.values()]);
  }

  /** Reads what rows name that others have written. */
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

  /** In one order for all nodes, so that two of them never wait for each other. */
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
    // Not before they are committed: what was undone may get another number.
    for (const row of written.texts) this.#know(row);
    for (const row of written.prices) this.#knowPrice(row);
    for (const { price } of prices) requireSame(price, this.priceOf(this.priceNumberOf(price)));
  }

  #know({ number, text }: typeof texts.$inferSelect): void {
    this.#numbers.set(text, number);
    this.#texts.set(number, text);
  }

  #knowPrice({ number, model, firstUsedAt, ...price }: typeof priceVersions.$inferSelect): void {
    this.#prices.set(number, price);
    this.#priceNumbers.set(price.version, number);
  }

  #forget(): void {
    for (const known of [this.#numbers, this.#texts, this.#prices, this.#priceNumbers]) {
      known.clear();
    }
  }
}

function unknownOf(
  numbers: Iterable<number | null>,
  known: ReadonlyMap<number, unknown>,
): number[] {
  const unknown = new Set<number>();
  for (const number of numbers) {
    if (number !== null && !known.has(number)) unknown.add(number);
  }
  return [...unknown];
}

/** A version is a name for its numbers, for ever. */
function requireSame(price: Price, known: Price): void {
  const isSame =
    known === price ||
    (known.input === price.input &&
      known.cachedInput === price.cachedInput &&
      known.cacheWrite === price.cacheWrite &&
      known.output === price.output);
  assert(isSame, `price version ${price.version} was used before with other prices`);
}
