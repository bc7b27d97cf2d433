// The texts of the pages in the visitor's language. The page loads the catalogue of that language
// before the application, so texts at module level are translated, too; another language is a
// reload.

import type { Language } from '../../core/service.ts';
import {
  type Catalogue,
  LOCALES,
  type TextValues,
  translate,
} from '../../dashboard/texts/translate.ts';

declare global {
  /** Set by the script of the language, which the build writes (`texts/compile.ts`). */
  var TEXTS: Catalogue | undefined;
}

const EMPTY: Catalogue = { language: 'en', messages: {} };

export const catalogue = (): Catalogue => globalThis.TEXTS ?? EMPTY;

export const language: Language = catalogue().language;

/** For `Intl` and `toLocaleString`. */
export const locale = LOCALES[language];

/**
 * A text in the visitor's language. `message` is the English text, one literal: the build collects
 * it. Arguments are ICU: `{name}`, `{count, plural, one {# request} other {# requests}}`.
 */
export function t(message: string, values?: TextValues): string {
  return translate(catalogue(), message, values);
}

/** Translated words in a row; empty for none. */
export function listed(words: readonly string[]): string {
  return words.length === 0
    ? ''
    : words.reduce((first, next) => t('{first}, {next}', { first, next }));
}
