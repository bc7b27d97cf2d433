// Where to go after signing in. The address comes from the URL of the page, which anybody can have
// written, so only a path of this very application is taken.

/** `next` if it is a path below `prefix`, as a path of the router; else `fallback`. */
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

/** The query that brings somebody back to where they are now. */
export function nextQuery(pathname: string, search: string): string {
  return `?next=${encodeURIComponent(`${pathname}${search}`)}`;
}
