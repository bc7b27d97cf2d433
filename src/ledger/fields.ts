// Carries fields between the threads of the ledger, a message of any number of them as one text: the
// runtime shares a text, and clones an object or an array for 5 to 20 µs. A `Layout` describes a value
// for both ends: the writer returns each field that it is given, and the reader ignores it and returns
// the field that was written.

import type { Price } from '../core/price.ts';
import { priceTexts, readPrice } from '../core/price-terms.ts';

/** Names the fields of a value, in the same order on both ends. */
export type Layout<Value> = (fields: Fields, given: Value) => Value;

export type Fields = Omit<FieldWriter, 'take'>;

/** Above it, both ends of a connection empty a cache. */
const KNOWN_MAX = 10_000;

/** The place of a value that the other end does not know yet. */
const NEW = -1;

/** The bytes of a number. */
const WIDTH = Float64Array.BYTES_PER_ELEMENT;

/** The sending end of a connection. */
export class FieldWriter {
  readonly #names = new Map<string, number>();
  readonly #prices = new Map<string, number>();
  #numbers = new Float64Array(1_024);
  /** The first number is this length. */
  #length = 1;
  #text = '';

  /** The message: the bytes of its numbers as characters, then its texts. The next field begins another. */
  take(): string {
    this.#numbers[0] = this.#length;
    const bytes = Buffer.from(this.#numbers.buffer, 0, this.#length * WIDTH);
    const message = bytes.toString('latin1') + this.#text;
    this.#length = 1;
    this.#text = '';
    return message;
  }

  number<Value extends number>(given: Value): Value {
    if (this.#length === this.#numbers.length) {
      const full = this.#numbers;
      this.#numbers = new Float64Array(2 * full.length);
      this.#numbers.set(full);
    }
    this.#numbers[this.#length] = given;
    this.#length += 1;
    return given;
  }

  flag(given: boolean): boolean {
    this.number(given ? 1 : 0);
    return given;
  }

  /** One that a number cannot represent is a text behind NaN. */
  integer<Value extends bigint>(given: Value): Value {
    const number = Number(given);
    if (Number.isSafeInteger(number)) this.number(number);
    else {
      this.number(Number.NaN);
      this.text(String(given));
    }
    return given;
  }

  /** The reader gets a slice of the message, which stays in memory as long as the slice. */
  text(given: string): string {
    this.number(given.length);
    this.#text += given;
    return given;
  }

  /** The reader gets a text of its own. */
  copy<Value extends string>(given: Value): Value {
    this.text(JSON.stringify(given));
    return given;
  }

  /** A text that repeats is sent once. */
  name<Value extends string>(given: Value): Value {
    if (!this.#isKnown(given, this.#names)) this.copy(given);
    return given;
  }

  /** A version is sent once. */
  price(given: Price): Price {
    if (!this.#isKnown(given.version, this.#prices)) this.text(JSON.stringify(priceTexts(given)));
    return given;
  }

  #isKnown(key: string, known: Map<string, number>): boolean {
    const place = known.get(key);
    this.number(place ?? NEW);
    if (place !== undefined) return true;
    if (known.size === KNOWN_MAX) known.clear();
    known.set(key, known.size);
    return false;
  }

  /** Plain data that is rarely sent. */
  json<Value>(given: Value): Value {
    this.text(JSON.stringify(given, boxInteger));
    return given;
  }

  part<Value>(given: Value, layout: Layout<Value>): Value {
    return layout(this, given);
  }

  optional<Value>(given: Value | undefined, layout: Layout<Value>): Value | undefined {
    this.flag(given !== undefined);
    return given === undefined ? undefined : layout(this, given);
  }

  list<Value>(given: readonly Value[], layout: Layout<Value>): readonly Value[] {
    this.number(given.length);
    for (const each of given) layout(this, each);
    return given;
  }
}

/** What a layout is given to read: none of its fields are used. */
const NOTHING: unknown = Object.freeze({});

/** The receiving end of a connection. */
export class FieldReader implements Fields {
  readonly #names: string[] = [];
  readonly #prices: Price[] = [];
  #numbers = new Float64Array(1_024);
  #length = 0;
  #place = 0;
  #message = '';
  #textPlace = 0;

  /** Begins the next message. */
  open(message: string): void {
    if (message.length > this.#numbers.byteLength) {
      this.#numbers = new Float64Array(Math.ceil((2 * message.length) / WIDTH));
    }
    Buffer.from(this.#numbers.buffer).write(message, 'latin1');
    this.#message = message;
    this.#place = 1;
    this.#length = this.#numbers[0] ?? 0;
    this.#textPlace = this.#length * WIDTH;
  }

  number<Value extends number>(): Value {
    const number = this.#numbers[this.#place];
    if (number === undefined || this.#place >= this.#length) {
      throw new RangeError('The message ends before its last field.');
    }
    this.#place += 1;
    return number as Value;
  }

  flag(): boolean {
    return this.number() === 1;
  }

  integer<Value extends bigint>(): Value {
    const number = this.number();
    return BigInt(Number.isNaN(number) ? this.text() : number) as Value;
  }

  text(): string {
    const from = this.#textPlace;
    this.#textPlace += this.number();
    return this.#message.slice(from, this.#textPlace);
  }

  copy<Value extends string>(): Value {
    return JSON.parse(this.text());
  }

  name<Value extends string>(): Value {
    return this.#known(this.#names, this.copy) as Value;
  }

  price(): Price {
    return this.#known(this.#prices, this.#newPrice);
  }

  #newPrice(): Price {
    return readPrice(JSON.parse(this.text()));
  }

  #known<Value>(known: Value[], readNew: () => Value): Value {
    const found = known[this.number()];
    if (found !== undefined) return found;
    if (known.length === KNOWN_MAX) known.length = 0;
    const value = readNew.call(this);
    known.push(value);
    return value;
  }

  json<Value>(): Value {
    return JSON.parse(this.text(), unbox);
  }

  part<Value>(_: Value, layout: Layout<Value>): Value {
    return layout(this, NOTHING as Value);
  }

  optional<Value>(_: Value | undefined, layout: Layout<Value>): Value | undefined {
    return this.flag() ? layout(this, NOTHING as Value) : undefined;
  }

  list<Value>(_: readonly Value[], layout: Layout<Value>): readonly Value[] {
    return Array.from({ length: this.number() }, () => layout(this, NOTHING as Value));
  }
}

/** JSON has no bigint. */
type Boxed = { readonly integer: string };

function boxInteger(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? ({ integer: String(value) } satisfies Boxed) : value;
}

function unbox(_: string, value: unknown): unknown {
  const isBox = typeof value === 'object' && value !== null && 'integer' in value;
  return isBox ? BigInt(String(value.integer)) : value;
}
