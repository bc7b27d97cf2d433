// Whether text in an error comes from the caller: many servers repeat what they refuse, and a
// caller must not control how its failure is classified. Ignores differences in white space, case
// and escapes.

import type { ContentPart, GenerationRequest, Turn } from '../../core/generation.ts';
import { isObject } from '../../core/json.ts';

/** Whether the caller wrote this text somewhere in its request. */
export type WroteWords = (words: string) => boolean;

/** A request with more characters counts as one that contains every text. This bounds the time. */
const CHARACTERS_MAX = 1_000_000;

/** How many bytes are searched per error, which takes 50 ms; afterwards every text counts as found. */
const SEARCHED_MAX = 500_000_000;

/** How many values of a request are visited, texts or not. More count as too many characters. */
const VALUES_MAX = 100_000;

/** The cost of an escape in characters: decoding one takes longer than reading a letter. */
const ESCAPE_CHARACTERS = 40;

/** Whether a text matches the pattern, which must be global, in words that are not the caller's. */
export function says(pattern: RegExp, text: string, wrote: WroteWords): boolean {
  return text.matchAll(pattern).some(([words]) => !wrote(words));
}

export function wordsOf(request: GenerationRequest): WroteWords {
  const texts = textsOf(request);
  return texts === 'too many' ? () => true : wordsIn(texts);
}

/** Whether words are in these texts, one after the other, as they are or with escapes decoded. */
export function wordsIn(texts: readonly string[]): WroteWords {
  let left = texts.reduce((room, text) => room - text.length, CHARACTERS_MAX);
  const spend = (): boolean => {
    left -= ESCAPE_CHARACTERS;
    return left >= 0;
  };
  const escaped = texts.filter((text) => left >= 0 && ESCAPE_SIGN.test(text));
  const decoded = escaped.map((text) => readEscapes(text, spend));
  if (left < 0) return () => true;
  // Bytes are searched five times as fast as characters.
  const all = Buffer.from(`${lettersOf(texts.join(' '))} ${lettersOf(decoded.join(' '))}`);
  let searched = 0;
  return (words) => {
    const letters = lettersOf(words);
    if (letters === '') return false;
    searched += all.length;
    return searched > SEARCHED_MAX || all.includes(letters);
  };
}

/** Every text of a request, followed by names that the caller chose, such as in schemas. */
function textsOf(request: GenerationRequest): readonly string[] | 'too many' {
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
  return left < 0 ? 'too many' : [...texts, ...names];
}

/** Errors do not repeat images, but their addresses. */
function withoutData(turn: Turn): Turn {
  if (turn.role !== 'user') return turn;
  const isShort = (part: ContentPart): boolean =>
    part.kind !== 'image' || !part.url.startsWith('data:');
  return { ...turn, parts: turn.parts.filter(isShort) };
}

const OWN_WORDS: ReadonlySet<string> = new Set(['text', 'image', 'user', 'assistant', 'tool']);

const SEPARATORS = /[\0-/:-@[-`{-\xbf\u2000-\u206f]+/g;

/** Letters and digits in upper case, whose rules do not depend on neighbours. */
function lettersOf(words: string): string {
  return words.replaceAll(SEPARATORS, '').toUpperCase();
}

const ESCAPE_SIGN = /[\\%&]/;

/** Escapes of JSON, JavaScript, Python, URLs and HTML. */
const ESCAPES =
  /\\(?:u([0-9a-f]{4})|x([0-9a-f]{2})|[nrtbfv])|((?:%[0-9a-f]{2})+)|&#(?:x([0-9a-f]{1,6})|(\d{1,7}));|&[a-z]{2,8};/gi;

/** The text with its escapes decoded, as long as `spend` allows one more. */
export function readEscapes(text: string, spend = () => true): string {
  return text.replaceAll(ESCAPES, (shown, u, x, bytes, hex, decimal) => {
    if (!spend()) return shown;
    if (bytes !== undefined) return Buffer.from(bytes.replaceAll('%', ''), 'hex').toString();
    const digits = u ?? x ?? hex;
    return String.fromCharCode(
      digits === undefined ? Number(decimal ?? 0) : Number.parseInt(digits, 16),
    );
  });
}
