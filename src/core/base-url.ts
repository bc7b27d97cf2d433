// The base URL of a server as an operator writes it: our own public one in the settings, an
// upstream's in the catalog. Both are checked here, so that both mean the same. The address of an
// upstream's proxy is another kind, with rules of its own.

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

/** What a text needs to be the address of an HTTP proxy, in words that follow "must be". */
export const PROXY_URL_EXPECTS =
  'an http or https address of a proxy such as "http://proxy.example:3128", without a path';

/** Whether a text is the address of an HTTP proxy; a user and a password may stand in it. */
export function isProxyUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || /[?#\s]/.test(text)) return false;
  return (url.protocol === 'http:' || url.protocol === 'https:') && url.pathname === '/';
}
