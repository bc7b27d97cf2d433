// A request of a page to its own server, as browsers send it.

export function pageRequest(
  url: string,
  cookie: string,
  method: string,
  body?: unknown,
  signal?: AbortSignal,
): Request {
  return new Request(url, {
    method,
    headers: { cookie, origin: new URL(url).origin, 'content-type': 'application/json' },
    ...(method === 'GET' ? {} : { body: JSON.stringify(body ?? {}) }),
    ...(signal === undefined ? {} : { signal }),
  });
}
