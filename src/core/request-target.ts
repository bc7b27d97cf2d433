// The target of a request as a URL. `new URL(request.url)` throws for a crafted Host header.

/** The runtime omits an unreadable Host, or inserts one that is invalid in a URL. */
export function targetOf({ url }: Pick<Request, 'url'>): URL {
  const path = /^(?:\w+:\/\/[^/]*)?(\/.*)/s.exec(url)?.[1] ?? '/';
  return URL.parse(url) ?? new URL(`http://localhost${path}`);
}
