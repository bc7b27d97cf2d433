// Calls the JSON of the dashboard or the operator's console as a page does: from its own origin,
// with its cookies.

export type Realm = 'customer' | 'operator';

/** Shorter than a test may take: a test that is cut off does not say what it waited for. */
const ANSWER_MS = 30_000;

export const PREFIXES = { customer: '/dashboard', operator: '/operator' } as const;

export type ApiAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body where it is a JSON object, and an empty object where it is not. */
  readonly json: Record<string, unknown>;
};

export type ApiSession = {
  readonly realm: Realm;
  /** Where the application is served, without its prefix. */
  readonly url: string;
  /** Paths are those of the route table, such as `/keys`. */
  readonly get: (path: string, headers?: Record<string, string>) => Promise<ApiAnswer>;
  readonly send: (
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<ApiAnswer>;
  /** The response as it comes, unread, for streams. */
  readonly open: (path: string, init?: RequestInit) => Promise<Response>;
  /** What the browser would send now; empty where there is nothing. */
  readonly cookie: () => string;
  /** Another visitor with the same cookies, as an attacker who has stolen them. */
  readonly copy: () => ApiSession;
};

/** A visitor of the application that `url` serves. `cookies` are those it already has. */
export function openApi(
  url: string,
  realm: Realm,
  cookies: ReadonlyMap<string, string> = new Map(),
): ApiSession {
  const jar = new Map(cookies);
  const cookie = () => [...jar].map(([name, value]) => `${name}=${value}`).join('; ');

  async function open(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (jar.size > 0 && !headers.has('cookie')) headers.set('cookie', cookie());
    const response = await fetch(`${url}${PREFIXES[realm]}/api${path}`, {
      redirect: 'manual',
      ...init,
      headers,
    });
    for (const line of response.headers.getSetCookie()) take(jar, line);
    return response;
  }

  return {
    realm,
    url,
    open,
    cookie,
    get: async (path, headers = {}) =>
      readAnswer(await open(path, { headers, signal: AbortSignal.timeout(ANSWER_MS) })),
    send: async (method, path, body = {}, headers = {}) =>
      readAnswer(
        await open(path, {
          method,
          signal: AbortSignal.timeout(ANSWER_MS),
          headers: { origin: url, 'content-type': 'application/json', ...headers },
          body: typeof body === 'string' ? body : JSON.stringify(body),
        }),
      ),
    copy: () => openApi(url, realm, jar),
  };
}

/** The jar of a browser, as far as one origin goes: the last value of a name wins. */
function take(jar: Map<string, string>, line: string): void {
  const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
  const equals = pair.indexOf('=');
  const name = pair.slice(0, equals);
  const value = pair.slice(equals + 1);
  const isOver = attributes.some((attribute) => /^max-age=0$/i.test(attribute));
  if (isOver || value === '') jar.delete(name);
  else jar.set(name, value);
}

async function readAnswer(response: Response): Promise<ApiAnswer> {
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parseObject(text) };
}

function parseObject(text: string): Record<string, unknown> {
  if (!text.startsWith('{')) return {};
  return JSON.parse(text) as Record<string, unknown>;
}
