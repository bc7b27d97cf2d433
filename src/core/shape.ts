// Splits a text into its shape and its numbers. An upstream's usage reports have the same text
// every time, so the database stores the text once and the numbers of each request. Lossless and
// pure.

/** Stands for one number in a shape; a text that contains it is stored unchanged. */
const NUMBER = '#';

/** Marks an unpacked text, in place of the number of a shape. */
const PLAIN = 0;

/** `numbers` fill the placeholders of the shape, from left to right. */
type Shaped = { readonly shape: string; readonly numbers: readonly number[] };

/** Leading zeros, as in a date or a price, are part of the shape. */
const NUMBERS = /[1-9][0-9]*|0(?![0-9])/g;

/** `undefined` if a number would not survive the round trip. */
function shapeOf(text: string): Shaped | undefined {
  if (text.includes(NUMBER)) return undefined;
  const numbers = text.match(NUMBERS)?.map(Number) ?? [];
  if (!numbers.every(Number.isSafeInteger)) return undefined;
  return { shape: text.replace(NUMBERS, NUMBER), numbers };
}

/**
 * Packs the text into a few bytes if `numberOf` knows its shape, else stores it unchanged.
 * `numberOf` is called once for each text and may register the shape for the next one.
 */
export function packText(
  text: string,
  numberOf: (shape: string) => number | undefined,
): Uint8Array {
  const shaped = shapeOf(text);
  const number = shaped === undefined ? undefined : numberOf(shaped.shape);
  if (shaped === undefined || number === undefined) {
    return Buffer.concat([Buffer.of(PLAIN), Buffer.from(text)]);
  }
  return packNumbers([number, ...shaped.numbers]);
}

/** The exact original text. Throws if the bytes were not made by `packText`. */
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
