// Whether text in an error comes from the caller: many servers repeat what they refuse, and a
// caller must not control how its failure is classified. Ignores differences in white space, case
// and escapes.

import type { ContentPart, GenerationRequest, Turn } from '../../core/generation.ts';
import { isObject } from '../../core/json.ts';

/** Whether the caller wrote this text somewhere in its request. */
export type WroteWords = (words: string) => boolean;

/**
 * How many characters of a request are searched per error, which bounds the time. If exceeded, the
 * text counts as the caller's.
 */
const CHARACTERS_MAX = 1_000_000;

/** The cost of a text besides its characters: a request may have many empty ones. */
const TEXT_CHARACTERS = 1;

/**
 * How many values of a request are visited, texts or not. If it has more, every text counts as the
 * caller's.
 */
const VALUES_MAX = 100_000;

/** The cost of an escape in characters: decoding one takes longer than reading a letter. */
const ESCAPE_CHARACTERS = 40;

/** Whether a text matches the pattern, which must be global, in words that are not the caller's. */
export function says(pattern: RegExp, text: string, wrote: WroteWords): boolean {
  const known = new Set<string>();
  for (const [words] of text.matchAll(pattern)) {
    if (known.has(words)) continue;
    if (!wrote(words)) return true;
    known.add(words);
  }
  return false;
}

export function wordsOf(request: GenerationRequest): WroteWords {
  let left = CHARACTERS_MAX;
  const spend = (characters: number): boolean => {
    left -= characters;
    return left >= 0;
  };
  let texts: Texts | undefined;
  const isIn = (letters: string): boolean => {
    texts ??= textsOf(request);
    if (texts === 'too many') return true;
    const search = createSearch(letters);
    for (const text of texts.all) {
      if (!spend(text.length + TEXT_CHARACTERS) || search(text)) return true;
    }
    const searchEscaped = createSearch(letters);
    for (const text of texts.escaped) {
      if (!spend(text.length + TEXT_CHARACTERS)) return true;
      const read = readEscapes(text, spend);
      if (left < 0 || searchEscaped(read)) return true;
    }
    return false;
  };
  // An error may repeat the same words in many spellings.
  const known = new Map<string, boolean>();
  return (words) => {
    const letters = lettersOf(words);
    if (letters === '') return false;
    const found = known.get(letters) ?? isIn(letters);
    known.set(letters, found);
    return found;
  };
}

type Texts =
  | {
      readonly all: readonly string[];
      /** Those whose escapes have to be decoded for a second search. */
      readonly escaped: readonly string[];
    }
  | 'too many';

/** Every text of a request, followed by names that the caller chose, such as in schemas. */
export function textsOf(request: GenerationRequest): Texts {
  const texts: string[] = [];
  const names: string[] = [];
  let left = VALUES_MAX;
  const visit = (value: unknown): void => {
    left -= 1;
    if (left < 0) return;
    // Skips our own `kind` names, which would separate texts.
    if (typeof value === 'string') {
      if (!OWN_WORDS.has(value)) texts.push(value);
    } else if (Array.isArray(value)) {
      for (let at = 0; at < value.length && left >= 0; at += 1) visit(value[at]);
    } else if (isObject(value)) {
      for (const name of Object.keys(value)) {
        if (left < 0) return;
        names.push(name);
        visit(value[name]);
      }
    }
  };
  visit({ ...request, turns: request.turns.map(withoutData) });
  if (left < 0) return 'too many';
  const all = [...texts, ...names];
  return { all, escaped: all.filter((text) => ESCAPE_SIGN.test(text)) };
}

/** Errors do not repeat images, but their addresses. */
function withoutData(turn: Turn): Turn {
  if (turn.role !== 'user') return turn;
  const isShort = (part: ContentPart): boolean =>
    part.kind !== 'image' || !part.url.startsWith('data:');
  return { ...turn, parts: turn.parts.filter(isShort) };
}

const OWN_WORDS: ReadonlySet<string> = new Set(['text', 'image', 'user', 'assistant', 'tool']);

/** Searches consecutive texts for letters (Knuth-Morris-Pratt). */
function createSearch(letters: string): (text: string) => boolean {
  const borders = [0];
  let border = 0;
  for (let at = 1; at < letters.length; at += 1) {
    while (border > 0 && letters[at] !== letters[border]) border = borders[border - 1] ?? 0;
    if (letters[at] === letters[border]) border += 1;
    borders.push(border);
  }
  let found = 0;
  return (text) => {
    for (let at = 0; at < text.length; at += 1) {
      const letter = letterOf(text.charCodeAt(at));
      if (letter === 0) continue;
      while (found > 0 && letters.charCodeAt(found) !== letter) found = borders[found - 1] ?? 0;
      if (letters.charCodeAt(found) === letter) found += 1;
      if (found === letters.length) return true;
    }
    return false;
  };
}

function lettersOf(words: string): string {
  const codes = Array.from({ length: words.length }, (_, at) => letterOf(words.charCodeAt(at)));
  return String.fromCharCode(...codes.filter((code) => code !== 0));
}

/** A letter or digit in lower case; 0 for separators. */
export function letterOf(code: number): number {
  if (code >= 0x61 && code <= 0x7a) return code;
  if (code >= 0x41 && code <= 0x5a) return code + 0x20;
  if (code >= 0x30 && code <= 0x39) return code;
  return code < 0xc0 || (code >= 0x2000 && code <= 0x206f) ? 0 : code;
}

const ESCAPE_SIGN = /[\\%&]/;

/** Escapes of JSON, JavaScript, Python, URLs and HTML. */
const ESCAPES =
  /\\(?:u([0-9a-f]{4})|x([0-9a-f]{2})|[nrtbfv])|((?:%[0-9a-f]{2})+)|&#(?:x([0-9a-f]{1,6})|(\d{1,7}));|&[a-z]{2,8};/gi;

/** The text with its escapes decoded, within the remaining budget. */
export function readEscapes(text: string, spend: (characters: number) => boolean): string {
  const pieces: string[] = [];
  let from = 0;
  for (const match of text.matchAll(ESCAPES)) {
    const [shown, u, x, bytes, hex, decimal] = match;
    if (!spend(ESCAPE_CHARACTERS)) break;
    const digits = u ?? x ?? hex;
    const code = digits === undefined ? Number(decimal ?? 0) : Number.parseInt(digits, 16);
    const read = bytes === undefined ? String.fromCharCode(code) : readBytes(bytes);
    pieces.push(text.slice(from, match.index), read);
    from = match.index + shown.length;
  }
  pieces.push(text.slice(from));
  return pieces.join('');
}

function readBytes(escapes: string): string {
  return new TextDecoder().decode(Buffer.from(escapes.replaceAll('%', ''), 'hex'));
}
