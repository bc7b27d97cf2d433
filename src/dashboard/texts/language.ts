// Which language of the pages a visitor gets.

import type { Language } from '../../core/service.ts';

/** Each language by its own name. */
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = {
  en: 'English',
  de: 'Deutsch',
  zh: '中文',
};

/** Set by the language menu of the pages. */
export const LANGUAGE_COOKIE = 'tollgate_language';

/**
 * The visitor's choice (cookie), else the best match of the browser's list (RFC 9110, 12.5.4), else
 * the first language on offer.
 */
export function chooseLanguage(headers: Headers, offered: readonly Language[]): Language {
  const find = (tag: string): Language | undefined =>
    offered.find((language) => tag.toLowerCase().split('-')[0] === language);
  const chosen = new RegExp(`(?:^|;\\s*)${LANGUAGE_COOKIE}=(\\w+)`).exec(
    headers.get('cookie') ?? '',
  );
  const accepted = (headers.get('accept-language') ?? '')
    .split(',')
    .map((range) => {
      const [tag = '', quality] = range.split(/;\s*q=/);
      return { tag: tag.trim(), quality: quality === undefined ? 1 : Number(quality) };
    })
    .filter(({ quality }) => quality > 0)
    .sort((one, other) => other.quality - one.quality);
  return (
    find(chosen?.[1] ?? '') ??
    accepted.map(({ tag }) => find(tag)).find((language) => language !== undefined) ??
    offered[0] ??
    'en'
  );
}
