// Every request of the pages: JSON below the application's `/api`, errors as `ApiError`, the sign-in
// page when nobody is signed in any more, and the password asked again where that is demanded.

import { signal } from '@preact/signals';
import { nextQuery } from './next.ts';

/** What the server refused. `message` is made to be shown as it is. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  /** The field that is wrong, as a path. */
  readonly param: string | undefined;
  readonly requestId: string | undefined;
  /** After how long it may be tried again, where the server says so. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    status: number,
    code: string,
    message: string,
    more: Partial<Pick<ApiError, 'param' | 'requestId' | 'retryAfterSeconds'>> = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = more.param;
    this.requestId = more.requestId;
    this.retryAfterSeconds = more.retryAfterSeconds;
  }
}

export type Query = Readonly<Record<string, string | number | undefined>>;

type Options = { readonly signal?: AbortSignal };

/** Reads `path` below the API, such as `get<List<KeyRecord>>('/keys')`. */
export function get<Data>(path: string, options: Options = {}): Promise<Data> {
  return call('GET', path, undefined, options);
}

export function post<Data>(path: string, body: object = {}, options: Options = {}): Promise<Data> {
  return call('POST', path, body, options);
}

export function patch<Data>(path: string, body: object = {}): Promise<Data> {
  return call('PATCH', path, body, {});
}

export function put<Data>(path: string, body: object = {}): Promise<Data> {
  return call('PUT', path, body, {});
}

/** DELETE. */
export function remove<Data>(path: string, body: object = {}): Promise<Data> {
  return call('DELETE', path, body, {});
}

/** `path`, which may have a query, with the members of `query` that have a value. */
export function withQuery(path: string, query: Query): string {
  const set = Object.entries(query).filter(([, value]) => (value ?? '') !== '');
  const text = new URLSearchParams(set.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${text}`;
}

/** The full address of a path of the API: for downloads, the live feed, and streams. */
export function apiUrl(path: string): string {
  return `${APP_PREFIX}/api${path}`;
}

/**
 * A request with everything that `get` and `post` do, up to the response itself: for answers that
 * are no JSON, such as streams. Rejects with `ApiError` where the status is not 2xx.
 */
export async function request(
  method: string,
  path: string,
  body: object | undefined,
  { signal: abort }: Options = {},
): Promise<Response> {
  const response = await send(method, path, body, abort);
  if (response.ok) return response;
  let error = await readError(response);
  if (error.code === 'not_signed_in') {
    // A proof of the password renews the cookie: this may have left with the one before.
    const again = await send(method, path, body, abort);
    if (again.ok) return again;
    error = await readError(again);
  }
  if (error.code === 'step_up_required' && (await proveAgain())) {
    return await request(method, path, body, abort === undefined ? {} : { signal: abort });
  }
  if (error.status === 401 && error.code === 'not_signed_in') onSignedOut();
  throw error;
}

async function call<Data>(
  method: string,
  path: string,
  body: object | undefined,
  options: Options,
): Promise<Data> {
  const response = await request(method, path, body, options);
  if (response.status === 204) return undefined as Data;
  return (await response.json()) as Data;
}

async function send(
  method: string,
  path: string,
  body: object | undefined,
  abort: AbortSignal | undefined,
): Promise<Response> {
  try {
    return await fetch(apiUrl(path), {
      method,
      credentials: 'same-origin',
      ...(body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      ...(abort === undefined ? {} : { signal: abort }),
    });
  } catch (error) {
    if (abort?.aborted) throw error;
    const message = 'The server cannot be reached. Check your connection and try again.';
    throw new ApiError(0, 'unreachable', message);
  }
}

type Envelope = {
  readonly error?: {
    readonly code?: string;
    readonly message?: string;
    readonly param?: string;
    readonly request_id?: string;
  };
};

async function readError(response: Response): Promise<ApiError> {
  const envelope = (await response.json().catch(() => ({}))) as Envelope;
  const { code, message, param, request_id } = envelope.error ?? {};
  return new ApiError(
    response.status,
    code ?? 'unknown',
    message ?? `The server answered with the status ${response.status}. Try again in a minute.`,
    {
      param,
      requestId: request_id || response.headers.get('x-request-id') || undefined,
      retryAfterSeconds: Number(response.headers.get('retry-after')) || undefined,
    },
  );
}

/** Whoever is asked for the password at the moment; the dialog of the shell watches it. */
export const stepUp = signal<{ readonly done: (proven: boolean) => void } | undefined>(undefined);

let proving: Promise<boolean> | undefined;

/** Asks for the password once, however many calls wait for it. */
function proveAgain(): Promise<boolean> {
  proving ??= new Promise<boolean>((resolve) => {
    stepUp.value = { done: resolve };
  }).finally(() => {
    stepUp.value = undefined;
    proving = undefined;
  });
  return proving;
}

/** The pages of those who are not signed in, where a 401 is an answer like any other. */
const SIGNED_OUT_PATHS = new Set<string>();

export function declareSignedOut(paths: readonly string[]): void {
  for (const path of paths) SIGNED_OUT_PATHS.add(`${APP_PREFIX}${path}`);
}

/**
 * The whole page is loaded anew, so that nothing of the session before stays in memory, and in the place
 * of the one that was left, which would only lead here again on the way back.
 */
function onSignedOut(): void {
  const { pathname, search } = window.location;
  if (SIGNED_OUT_PATHS.has(pathname)) return;
  window.location.replace(`${APP_PREFIX}/sign-in${nextQuery(pathname, search)}`);
}
