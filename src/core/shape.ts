// A text as its shape and its numbers: what an upstream reports has the same words every time, so the
// books keep the words once and the numbers of each request. Pure; no text is lost or changed.

/** Stands for one number in a shape; a text that has it is kept as it is. */
const NUMBER = '#';

/** A text of another kind, behind this in place of the number of a shape. */
const PLAIN = 0;

/** `numbers` are the places of the shape, from left to right. */
type Shaped = { readonly shape: string; readonly numbers: readonly number[] };

/** Zeros before a number, as in a date or a price, are part of the shape. */
const NUMBERS = /[1-9][0-9]*|0(?![0-9])/g;

/** `undefined` where a number would not come back as it was written. */
function shapeOf(text: string): Shaped | undefined {
  if (text.includes(NUMBER)) return undefined;
  const numbers = text.match(NUMBERS)?.map(Number) ?? [];
  if (!numbers.every(Number.isSafeInteger)) return undefined;
  return { shape: text.replace(NUMBERS, NUMBER), numbers };
}

/**
 * The text in a few bytes where `numberOf` knows its shape, else as it is. `numberOf` is asked once
 * for each text and may learn the shape for the next one.
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

/** The text again, letter for letter. Throws where the bytes are not of `packText`. */
export function unpackText(bytes: Uint8Array, shapeOfNumber: (number: number) => string): string {
  if (bytes[0] === PLAIN) return Buffer.from(bytes.subarray(1)).toString();
  const [number = PLAIN, ...numbers] = unpackNumbers(bytes);
  const parts = shapeOfNumber(number).split(NUMBER);
  if (parts.length !== numbers.length + 1) throw new RangeError('A shape lacks numbers.');
  return parts.reduce((text, part, index) => `${text}${numbers[index - 1]}${part}`);
}

/** The number of the shape that the bytes name; `undefined` where they name none. */
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

/** Seven bits a byte, the lowest first; the eighth says that more follow (LEB128). */
function packNumbers(numbers: readonly number[]): Uint8Array {
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

function unpackNumbers(bytes: Uint8Array): number[] {
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
