// Converts the input of a custom tool to the arguments `{"input": "…"}` and back, piece by piece.
// Arguments of another form are passed on as they are: the client's tool can still reject them.

import { SurrogateJoiner } from './upstream/surrogates.ts';

const OPENING = /^\s*\{\s*"input"\s*:\s*"/;
export const ARGUMENTS_START = '{"input":"';
export const ARGUMENTS_END = '"}';

/** Room for white space, without which a model's endless one would be searched again and again. */
const OPENING_LENGTH_MAX = 64;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const HEX = /^[\da-fA-F]*$/;
const HEX_LENGTH = 4;

const ESCAPED: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

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
    let text = '';
    let from = 0;
    let at = 0;
    for (; at < held.length && this.#state === 'inside'; at += 1) {
      const code = held.charCodeAt(at);
      if (code !== QUOTE && code !== BACKSLASH) continue;
      text += held.slice(from, at);
      from = at;
      if (code === QUOTE) this.#state = 'closed';
      else {
        const length = escapeLength(held, at);
        if (length === 0) break;
        text += unescaped(held, at, length);
        from = at + length;
        at = from - 1;
      }
    }
    if (this.#state === 'inside' && at === held.length) {
      text += held.slice(from);
      from = at;
    }
    this.#held = held.slice(from);
    const joined = this.#pairs.push(text);
    return this.#state === 'closed' ? joined + this.#pairs.flush() : joined;
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

/** The length of the escape at that index; 0 if the text ends inside of it. */
function escapeLength(text: string, at: number): number {
  if (at + 1 === text.length) return 0;
  if (text[at + 1] !== 'u') return 2;
  const hex = text.slice(at + 2, at + 2 + HEX_LENGTH);
  if (!HEX.test(hex)) return 2;
  return hex.length === HEX_LENGTH ? 2 + HEX_LENGTH : 0;
}

/** An escape that JSON does not have stands for itself. */
function unescaped(text: string, at: number, length: number): string {
  if (length > 2) return String.fromCharCode(Number.parseInt(text.slice(at + 2, at + length), 16));
  return ESCAPED[text.charAt(at + 1)] ?? text.slice(at, at + 2);
}
