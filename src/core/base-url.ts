// Reads the base URLs that operators configure: the public one in the settings and those of
// upstreams in the catalog. The address of an upstream's proxy has different rules.

import { say } from './sentence.ts';

/** The requirement for a base URL, phrased to follow "must be". */
export const BASE_URL_EXPECTS = 'an http or https address without a user, query or fragment';

/** The URL without trailing slashes, or `undefined` if the text is not a base URL. */
export function readBaseUrl(text: string): string | undefined {
  return text.includes('?') ? undefined : readUpstreamUrl(text);
}

/** The requirement for an upstream's base URL, phrased to follow "must be". */
export const UPSTREAM_URL_EXPECTS = say('an http or https address without a user or fragment');

/** As `readBaseUrl`, but with any query: Azure's dated versions are chosen by `?api-version=`. */
export function readUpstreamUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || /[#\s]/.test(text)) return undefined;
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  if (url.username !== '' || url.password !== '') return undefined;
  return text.replace(/\/*(?=\?|$)/, '');
}

/** The URL of a path below an upstream's base URL, whose query stays behind the path. */
export function urlBelow(baseUrl: string, path: string): string {
  return baseUrl.replace(/(?=\?)|$/, () => path);
}

/** The requirement for an HTTP proxy's address, phrased to follow "must be". */
export const PROXY_URL_EXPECTS = say(
  'an http or https address of a proxy such as {example}, without a path',
  { example: '"http://proxy.example:3128"' },
);

/** Whether a text is the address of an HTTP proxy. It may contain a user and a password. */
export function isProxyUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || /[?#\s]/.test(text)) return false;
  return (url.protocol === 'http:' || url.protocol === 'https:') && url.pathname === '/';
}
