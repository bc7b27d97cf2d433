// Compiles the catalogues at build time. A message without arguments that is the same as the English
// text has no entry, so the catalogue of English has those with arguments alone.

import compile from 'icu-minify/compile';
import type { Language } from '../../core/service.ts';
import de from './de.json';
import { type Catalogue, messageKey } from './translate.ts';
import zh from './zh.json';

/** Translations by English text. Complete: a test compares them with the sources. */
export const TRANSLATIONS: Readonly<
  Record<Exclude<Language, 'en'>, Readonly<Record<string, string>>>
> = { de, zh };

export function compileCatalogue(language: Language, texts: readonly string[]): Catalogue {
  const translations = language === 'en' ? {} : TRANSLATIONS[language];
  const entries = [...new Set(texts)].sort().flatMap((text) => {
    const compiled = compile(translations[text] ?? text);
    return compiled === text ? [] : [[messageKey(text), compiled] as const];
  });
  const messages = Object.fromEntries(entries);
  if (Object.keys(messages).length < entries.length) {
    throw new Error('Two texts have the same key. Change the wording of one.');
  }
  return { language, messages };
}
