// Formats a message in one language, found by the hash of its English text. A message with
// arguments, plurals or tags is ICU MessageFormat, compiled by the build (`compile.ts`).

import format, { type CompiledMessage } from 'icu-minify/format';
import { type Sentence, wordsOf } from '../../core/sentence.ts';
import type { Language } from '../../core/service.ts';

/** The messages of one language that differ from the English text, by `messageKey`. */
export type Catalogue = {
  readonly language: Language;
  readonly messages: Readonly<Record<string, CompiledMessage>>;
};

/** Arguments are formatted already; a number may select a plural. */
export type TextValues = Readonly<Record<string, string | number>>;

/** A tag such as `<link>` becomes the result of the function of its name. */
type Tag<Node> = (text: Node) => Node;

export type RichValues<Node> = Readonly<Record<string, Node | Tag<Node>>>;

/** For numbers and dates: English with a day before its month. */
export const LOCALES: Readonly<Record<Language, string>> = {
  en: 'en-GB',
  de: 'de-DE',
  zh: 'zh-CN',
};

const formatters = {
  getNumberFormat: (...args: ConstructorParameters<typeof Intl.NumberFormat>) =>
    new Intl.NumberFormat(...args),
  getDateTimeFormat: (...args: ConstructorParameters<typeof Intl.DateTimeFormat>) =>
    new Intl.DateTimeFormat(...args),
  getPluralRules: (...args: ConstructorParameters<typeof Intl.PluralRules>) =>
    new Intl.PluralRules(...args),
};

/** FNV-1a of an English text: a page loads a fourth less than with the texts. */
export function messageKey(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 0).toString(36);
}

/** Text: what has no entry in the catalogue is shown in English. */
export function translate(
  { language, messages }: Catalogue,
  message: string,
  values?: TextValues,
): string {
  const compiled = messages[messageKey(message)] ?? message;
  if (typeof compiled === 'string') return compiled;
  return String(format(compiled, LOCALES[language], { ...values }, { formatters }));
}

/** A sentence of the server, with its values in the same language. */
export function translateSentence(catalogue: Catalogue, { text, values }: Sentence): string {
  const shown = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'object'
        ? translateSentence(catalogue, value)
        : value.toLocaleString(LOCALES[catalogue.language]),
    ]),
  );
  if (catalogue.messages[messageKey(text)] === undefined) return wordsOf({ text, values: shown });
  return translate(catalogue, text, shown);
}

/** Text with parts that are not text: an argument may be a node, and a tag wraps a part. */
export function translateRich<Node>(
  { language, messages }: Catalogue,
  message: string,
  values: RichValues<Node>,
): readonly (string | Node)[] {
  const compiled = messages[messageKey(message)] ?? message;
  if (typeof compiled === 'string') return [compiled];
  // The formatter turns arguments into strings, so a node travels as a mark around its name.
  const given = Object.entries(values).map(([name, value]): [string, never] => {
    const kept = typeof value === 'function' || typeof value !== 'object' || value === null;
    return [name, (kept ? wrapped(value) : `${MARK}${name}${MARK}`) as never];
  });
  function wrapped(value: Node | Tag<Node>): unknown {
    if (typeof value !== 'function') return value;
    return (parts: readonly (string | Node)[]) => (value as Tag<unknown>)(parts.flatMap(restored));
  }
  function restored(part: string | Node): readonly (string | Node)[] {
    if (typeof part !== 'string') return [part];
    return part.split(MARK).flatMap((piece, index): readonly (string | Node)[] => {
      if (index % 2 === 1) return [values[piece] as Node];
      return piece === '' ? [] : [piece];
    });
  }
  const parts: unknown = format(compiled, LOCALES[language], Object.fromEntries(given), {
    formatters,
  });
  return (Array.isArray(parts) ? parts : [parts]).flatMap(restored);
}

/** Never part of a text. */
const MARK = '\u0000';
