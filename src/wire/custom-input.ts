// Converts the input of a custom tool to the arguments `{"input": "…"}` and back, piece by piece.
// Arguments of another form are passed on as they are: the client's tool can still reject them.

import { SurrogateJoiner } from './upstream/surrogates.ts';

const OPENING = /^\s*\{\s*"input"\s*:\s*"/;
export const ARGUMENTS_START = '{"input":"';
export const ARGUMENTS_END = '"}';

/** Room for white space, without which a model's endless one would be searched again and again. */
const OPENING_LENGTH_MAX = 64;

const ESCAPE = /\\(?:u[\da-fA-F]{4}|[\s\S])/y;
const CUT_ESCAPE = /^\\(?:u[\da-fA-F]{0,3})?$/;
const SPECIAL = /["\\]/g;
const ESCAPE_LENGTH_MAX = 6;

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

  #read(): string {
    const held = this.#held;
    let text = '';
    let at = 0;
    while (at < held.length) {
      const special = indexOfSpecial(held, at);
      text += held.slice(at, special);
      at = special;
      if (held[at] === '"') this.#state = 'closed';
      if (held[at] === '"' || CUT_ESCAPE.test(held.slice(at, at + ESCAPE_LENGTH_MAX))) break;
      ESCAPE.lastIndex = at;
      const sequence = ESCAPE.exec(held)?.[0] ?? '';
      text += unescaped(sequence);
      at += sequence.length;
    }
    this.#held = held.slice(at);
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

/** The index of the next quote or backslash, or the length. */
function indexOfSpecial(text: string, from: number): number {
  SPECIAL.lastIndex = from;
  return SPECIAL.exec(text)?.index ?? text.length;
}

/** An escape that JSON does not have stands for itself. */
function unescaped(sequence: string): string {
  if (sequence.length === ESCAPE_LENGTH_MAX) {
    return String.fromCharCode(Number.parseInt(sequence.slice(2), 16));
  }
  return ESCAPED[sequence.slice(1)] ?? sequence;
}
