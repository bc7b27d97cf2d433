// Stores the visitor's choice of a language for the server, which picks the catalogue.

import type { Language } from '../../core/service.ts';
import { LANGUAGE_COOKIE } from '../../dashboard/texts/language.ts';

const YEAR_SECONDS = 31_536_000;

export function chooseLanguage(chosen: Language): void {
  const secure = location.protocol === 'https:' ? '; secure' : '';
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in Firefox ESR.
  document.cookie = `${LANGUAGE_COOKIE}=${chosen}; path=/; max-age=${YEAR_SECONDS}; samesite=lax${secure}`;
  location.reload();
}
