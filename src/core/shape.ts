// Splits a text into its shape and its numbers. An upstream's usage reports have the same text
// every time, so the database stores the text once and the numbers of each request. Lossless and
// pure.

/** Stands for one number in a shape; a text that contains it is stored unchanged. */
const NUMBER = '#';

/** Marks an unpacked text, in place of the number of a shape. */
const PLAIN = 0;

const DIGIT = /[0-9]/;
const ZERO = '0'.charCodeAt(0);

/** Leading zeros, as in a date or a price, are part of the shape. */
const NUMBERS = /[1-9][0-9]*|0(?![0-9])/g;

/** A shape that the database has. */
type KnownShape = { readonly number: number; readonly parts: readonly string[] };

/** How many shapes with the same beginning a packer knows. */
const SIMILAR_MAX = 16;

const NONE: readonly never[] = [];

/** Packs texts, and compares each with the known shapes that begin like it before it makes its own. */
export class TextPacker {
  /** By their text before the first digit. */
  readonly #known = new Map<string, KnownShape[]>();
  readonly #numberOf: (shape: string) => number | undefined;

  /** A number stands for its shape for ever, and the number of shapes is bounded. */
  constructor(numberOf: (shape: string) => number | undefined) {
    this.#numberOf = numberOf;
  }

  /**
   * Packs the text into a few bytes if `numberOf` knows its shape, else stores it unchanged.
   * `numberOf` may register the shape for the next text.
   */
  pack(text: string): Uint8Array {
    for (const { number, parts } of this.#known.get(beginningOf(text)) ?? NONE) {
      const numbers = numbersIn(text, parts);
      if (numbers !== undefined) return packNumbers([number, ...numbers]);
    }
    // A text that contains the placeholder itself does not have this shape.
    const shape = text.replace(NUMBERS, NUMBER);
    const parts = shape.split(NUMBER);
    const numbers = numbersIn(text, parts);
    const number = numbers === undefined ? undefined : this.#numberOf(shape);
    if (numbers === undefined || number === undefined) {
      return Buffer.concat([Buffer.of(PLAIN), Buffer.from(text)]);
    }
    this.#know({ number, parts });
    return packNumbers([number, ...numbers]);
  }

  #know(shape: KnownShape): void {
    const similar = this.#known.getOrInsertComputed(beginningOf(shape.parts[0] ?? ''), () => []);
    similar.unshift(shape);
    if (similar.length > SIMILAR_MAX) similar.pop();
  }
}

function beginningOf(text: string): string {
  const place = text.search(DIGIT);
  return place < 0 ? text : text.slice(0, place);
}

/**
 * The numbers between the parts of a shape; undefined if the text has another shape, or a number that
 * would not survive the round trip.
 */
function numbersIn(text: string, parts: readonly string[]): readonly number[] | undefined {
  const numbers: number[] = [];
  let place = 0;
  for (const part of parts) {
    if (!text.startsWith(part, place)) return undefined;
    place += part.length;
    if (numbers.length === parts.length - 1) break;
    const begin = place;
    let value = 0;
    for (let digit = digitAt(text, place); digit >= 0; digit = digitAt(text, place)) {
      value = value * 10 + digit;
      place += 1;
    }
    const isNumber = place > begin && (place === begin + 1 || digitAt(text, begin) > 0);
    if (!isNumber || !Number.isSafeInteger(value)) return undefined;
    numbers.push(value);
  }
  return place === text.length ? numbers : undefined;
}

function digitAt(text: string, place: number): number {
  const digit = text.charCodeAt(place) - ZERO;
  return digit >= 0 && digit <= 9 ? digit : -1;
}

/** The exact original text. Throws if the bytes were not made by a `TextPacker`. */
export function unpackText(bytes: Uint8Array, shapeOfNumber: (number: number) => string): string {
  if (bytes[0] === PLAIN) return Buffer.from(bytes.subarray(1)).toString();
  const [number = PLAIN, ...numbers] = unpackNumbers(bytes);
  const parts = shapeOfNumber(number).split(NUMBER);
  if (parts.length !== numbers.length + 1) throw new RangeError('A shape lacks numbers.');
  return parts.reduce((text, part, index) => `${text}${numbers[index - 1]}${part}`);
}

/** The number of the shape in the bytes; `undefined` if there is none. */
export function shapeNumber(bytes: Uint8Array): number | undefined {
  let number = 0;
  let place = 1;
  for (const byte of bytes) {
    number += (byte % 128) * place;
    if (byte < 128) break;
    place *= 128;
  }
  return number === PLAIN ? undefined : number;
}

/** LEB128: seven bits per byte, lowest first; the eighth bit marks that more follow. */
export function packNumbers(numbers: readonly number[]): Uint8Array {
  const bytes: number[] = [];
  for (const number of numbers) {
    let left = number;
    while (left >= 128) {
      bytes.push((left % 128) + 128);
      left = Math.floor(left / 128);
    }
    bytes.push(left);
  }
  return new Uint8Array(bytes);
}

/** Reads what `packNumbers` wrote. */
export function unpackNumbers(bytes: Uint8Array): number[] {
  const numbers: number[] = [];
  let number = 0;
  let place = 1;
  for (const byte of bytes) {
    number += (byte % 128) * place;
    if (byte >= 128) place *= 128;
    else {
      numbers.push(number);
      [number, place] = [0, 1];
    }
  }
  return numbers;
}
