// Converts the input of a custom tool to the arguments `{"input": "…"}` and back, piece by piece.
// Arguments of another form are passed on as they are: the client's tool can still reject them.

import { parseJson } from '../core/json.ts';
import { SurrogateJoiner } from './upstream/surrogates.ts';

const OPENING = /^\s*\{\s*"input"\s*:\s*"/;
export const ARGUMENTS_START = '{"input":"';
export const ARGUMENTS_END = '"}';

/** Room for white space, without which a model's endless one would be searched again and again. */
const OPENING_LENGTH_MAX = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** At the end of a piece: what may be the beginning of an escape. */
const BEGUN_ESCAPE = /^\\(?:u[\da-fA-F]{0,3})?$/;
const BEGUN_LENGTH_MAX = 5;

const ESCAPES = /\\(?:u([\da-fA-F]{4})|(.))/gs;
const ESCAPED: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** The input of one call. */
export class CustomInput {
  #state: 'opening' | 'inside' | 'closed' | 'other' = 'opening';
  /** The end of what has been read, if its meaning depends on the next piece. */
  #held = '';
  readonly #pairs = new SurrogateJoiner();

  /** The text that this piece of the arguments adds to the input. */
  push(piece: string): string {
    if (this.#state === 'other') return piece;
    if (this.#state === 'closed') return '';
    this.#held += piece;
    return this.#state === 'opening' ? this.#open() : this.#read();
  }

  #open(): string {
    const held = this.#held;
    const opening = OPENING.exec(held)?.[0];
    if (opening !== undefined && opening.length <= OPENING_LENGTH_MAX) {
      this.#state = 'inside';
      this.#held = held.slice(opening.length);
      return this.#read();
    }
    if (mayOpen(held)) return '';
    this.#state = 'other';
    return held;
  }

  /** Visits characters: a search for each escape would take half a second for a long input. */
  #read(): string {
    const held = this.#held;
    let end = 0;
    while (end < held.length && held.charCodeAt(end) !== QUOTE) {
      const isEscape = held.charCodeAt(end) === BACKSLASH;
      if (isEscape && held.length - end <= BEGUN_LENGTH_MAX && BEGUN_ESCAPE.test(held.slice(end)))
        break;
      end += isEscape ? 2 : 1;
    }
    if (held.charCodeAt(end) === QUOTE) this.#state = 'closed';
    this.#held = held.slice(end);
    const text = this.#pairs.push(unescaped(held.slice(0, end)));
    return this.#state === 'closed' ? text + this.#pairs.flush() : text;
  }
}

/** The arguments of a call with this input. */
export function customArguments(input: string): string {
  return ARGUMENTS_START + customPiece(input) + ARGUMENTS_END;
}

/** What a piece of the input adds to the arguments, between their start and end. */
export function customPiece(input: string): string {
  return JSON.stringify(input).slice(1, -1);
}

/** The input of a whole call. */
export function customInput(callArguments: string): string {
  return new CustomInput().push(callArguments);
}

/** Whether the text is the beginning of an opening, or an object without members: no input. */
function mayOpen(text: string): boolean {
  if (text.length > OPENING_LENGTH_MAX) return false;
  const compact = text.replace(/\s+/g, '');
  return ARGUMENTS_START.startsWith(compact) || compact === '{}';
}

/** An escape that JSON does not have stands for itself, and so does a line break. */
function unescaped(text: string): string {
  const read = parseJson(`"${text}"`);
  if (typeof read === 'string') return read;
  return text.replace(ESCAPES, (whole, hex: string | undefined, sign: string) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    return '"\\/'.includes(sign) ? sign : (ESCAPED[sign] ?? whole);
  });
}
