// Weighs JSON before it is parsed, in one pass over its bytes, because a parser takes far more memory,
// stack and time for some texts than their length suggests. Pure.

const QUOTE = 0x22;
const COMMA = 0x2c;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * The runtime stores a member whose name is a number in a vector with room for all smaller numbers:
 * `{"999":0}` takes 8 KB. From here on it uses a map.
 */
const VECTOR_MAX = 1_000;
/** An escape of a digit, without its last character. */
const ESCAPED_DIGIT = [BACKSLASH, ...Buffer.from('u003')];
/** The longest name that may be such a number: three digits, each written as an escape. */
const NUMBER_BYTES_MAX = 18;

export type JsonWeight = {
  /** Of arrays and objects. */
  readonly depth: number;
  /** Of objects. A name of up to three digits counts as the members that its vector has room for. */
  readonly members: number;
  /** Members, elements, arrays and objects. */
  readonly values: number;
  /**
   * Different names and short strings, which take the runtime's parser some 0.4 µs each. The first
   * `words` strings are not compared, so a text may have twice as many.
   */
  readonly words: number;
};

/** Of the body of a request. */
export const JSON_WEIGHT_MAX: JsonWeight = {
  depth: 64,
  members: 50_000,
  values: 100_000,
  words: 10_000,
};

/** A longer string is a value of its own for the parser, and is not counted as a word. */
const WORD_BYTES_MAX = 32;

const NEAR_BYTES = 24;

/** Words are compared by so many bits of their hash: few of 10,000 share theirs. */
const WORD_BITS = 17;

type Weighed = Omit<JsonWeight, 'depth' | 'words'> & {
  /** What exceeds its bound first; the scan stops there. */
  readonly excess: keyof JsonWeight | undefined;
};

/**
 * A parser checks that brackets match: a text that confuses this scan is not JSON. A secret `seed`
 * keeps a sender from choosing words that share a hash.
 */
export function weighJson(bytes: Uint8Array, most: JsonWeight, seed = 0): Weighed {
  /** The largest number that was a name, on each level. */
  let numbers: Int32Array | undefined;
  let depth = 0;
  let members = 0;
  let values = 0;
  let start = 0;
  let end = 0;
  let strings = 0;
  let words = 0;
  let seen: Uint8Array | undefined;
  for (let index = 0; index < bytes.length; index += 1) {
    switch (bytes[index]) {
      case QUOTE:
        start = index + 1;
        end = stringEnd(bytes, index);
        index = end;
        strings += 1;
        if (strings <= most.words || end - start > WORD_BYTES_MAX) break;
        seen ??= new Uint8Array(2 ** WORD_BITS);
        words += isNew(seen, hashOf(bytes, start, end, seed));
        if (words > most.words) return { excess: 'words', members, values };
        break;
      case OPEN_BRACKET:
      case OPEN_BRACE:
        depth += 1;
        values += 1;
        if (depth > most.depth) return { excess: 'depth', members, values };
        if (values > most.values) return { excess: 'values', members, values };
        if (numbers !== undefined) numbers[depth] = 0;
        break;
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        depth -= 1;
        break;
      case COMMA:
        values += 1;
        if (values > most.values) return { excess: 'values', members, values };
        break;
      case COLON: {
        const number = numberOf(bytes, start, end);
        const more = number - (numbers?.[depth] ?? 0);
        members += Math.max(1, more);
        if (more > 0) {
          numbers ??= new Int32Array(most.depth + 1);
          numbers[depth] = number;
        }
        if (members > most.members) return { excess: 'members', members, values };
        break;
      }
    }
  }
  return { excess: undefined, members, values };
}

/** The number that a name of digits is, written as such or as escapes; 0 for any other name. */
function numberOf(bytes: Uint8Array, start: number, end: number): number {
  if (end - start > NUMBER_BYTES_MAX) return 0;
  let number = 0;
  for (let index = start; index < end; index += 1) {
    if (bytes[index] === BACKSLASH) {
      if (!ESCAPED_DIGIT.every((byte, offset) => bytes[index + offset] === byte)) return 0;
      index += ESCAPED_DIGIT.length;
    }
    const byte = bytes[index] ?? 0;
    if (byte < DIGIT_0 || byte > DIGIT_9) return 0;
    number = number * 10 + byte - DIGIT_0;
  }
  return number < VECTOR_MAX ? number : 0;
}

/** The index of the quote that closes the string opened at `start`, or the end of the bytes. */
function stringEnd(bytes: Uint8Array, start: number): number {
  // A search costs more than a look at each byte of a short string.
  const near = lookForQuote(bytes, start + 1, start + 1 + NEAR_BYTES);
  if (bytes[near] === QUOTE) return near;
  const quote = bytes.indexOf(QUOTE, near);
  if (quote === -1) return bytes.length;
  if (!isEscapedByte(bytes, quote)) return quote;
  // Where one quote is escaped, many may be.
  return Math.min(lookForQuote(bytes, quote + 1, bytes.length), bytes.length);
}

/** The index of the first quote that is not escaped, or one from `end` on. */
function lookForQuote(bytes: Uint8Array, from: number, end: number): number {
  let index = from;
  while (index < end && bytes[index] !== QUOTE) index += bytes[index] === BACKSLASH ? 2 : 1;
  return index;
}

/** FNV-1a. */
function hashOf(bytes: Uint8Array, start: number, end: number, seed: number): number {
  let hash = seed ^ 0x811c9dc5;
  for (let index = start; index < end; index += 1) {
    hash = Math.imul(hash ^ (bytes[index] ?? 0), 0x01000193);
  }
  return (hash ^ (hash >>> WORD_BITS)) & (2 ** WORD_BITS - 1);
}

/** 1 for a hash that was not seen before. */
function isNew(seen: Uint8Array, hash: number): 0 | 1 {
  if (seen[hash] === 1) return 0;
  seen[hash] = 1;
  return 1;
}

/** `isEscaped` over undecoded bytes. Runs never overlap, so the total time is linear. */
function isEscapedByte(bytes: Uint8Array, quote: number): boolean {
  let index = quote - 1;
  while (bytes[index] === BACKSLASH) index -= 1;
  return (quote - 1 - index) % 2 === 1;
}
