// The page to open after sign-in. It comes from the URL, which an attacker can write, so only paths
// of this application are accepted.

/** Returns `next` as a router path if it is below `prefix`; otherwise `fallback`. */
export function safeNext(next: string | null, prefix: string, fallback = '/'): string {
  if (next === null || !/^\/[\w\-./~%?&=:,+@]*$/.test(next)) return fallback;
  if (next.startsWith('//')) return fallback;
  const url = URL.parse(next, 'https://same.invalid');
  if (url === null || url.origin !== 'https://same.invalid') return fallback;
  if (url.pathname !== prefix && !url.pathname.startsWith(`${prefix}/`)) return fallback;
  const path = url.pathname.slice(prefix.length);
  if (path.startsWith('//')) return fallback;
  return `${path === '' ? '/' : path}${url.search}`;
}

/** Why the sign-in page is shown to a user who was signed in. */
export type SignedOutReason = 'expired' | 'other_tab';

/** The query that returns the user to the current page. */
export function nextQuery(pathname: string, search: string, reason?: SignedOutReason): string {
  const why = reason === undefined ? '' : `&reason=${reason}`;
  return `?next=${encodeURIComponent(`${pathname}${search}`)}${why}`;
}
