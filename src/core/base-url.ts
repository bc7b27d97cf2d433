// The base URL of a server as an operator writes it: our own public one in the settings, an
// upstream's in the catalog. Both are checked here, so that both mean the same.

/** What a text needs to be one, in words that follow "must be". */
export const BASE_URL_EXPECTS = 'an http or https address without a user, query or fragment';

/** The URL without slashes at its end, or `undefined` where the text is not a base URL. */
export function readBaseUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || /[?#\s]/.test(text)) return undefined;
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  if (url.username !== '' || url.password !== '') return undefined;
  return text.replace(/\/+$/, '');
}
