// The API client of the pages: JSON below the application's `/api`, errors as `ApiError`, a redirect
// to sign-in on an expired session, and a password prompt for protected actions.

import { signal } from '@preact/signals';
import type { Sentence } from '../../dashboard/records/operator-server.ts';
import { spoken } from '../text/said.ts';
import { t } from '../text/t.ts';
import { errorText } from './error-texts.ts';
import { nextQuery, type SignedOutReason } from './next.ts';

/** An error of the server. `message` can be shown to the user. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  /** The path of the invalid field. */
  readonly param: string | undefined;
  readonly requestId: string | undefined;
  /** Seconds to wait before a retry, if the server says so. */
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

type Asked = readonly [
  method: string,
  path: string,
  body?: object | undefined,
  abort?: AbortSignal | undefined,
];

export type Query = Readonly<Record<string, string | number | undefined>>;

/** Reads `path` below the API, such as `get<List<KeyRecord>>('/keys')`. */
export function get<Data>(
  path: string,
  { signal: abort }: { readonly signal?: AbortSignal } = {},
): Promise<Data> {
  return call('GET', path, undefined, abort);
}

export const post = sender('POST');
export const patch = sender('PATCH');
export const put = sender('PUT');
export const remove = sender('DELETE');

function sender(method: string) {
  return <Data>(path: string, body: object = {}): Promise<Data> => call(method, path, body);
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
 * Sends a request like `get` and `post`, but returns the response: for bodies other than JSON, such
 * as streams. Rejects with `ApiError` unless the status is 2xx.
 */
export async function request(...asked: Asked): Promise<Response> {
  const response = await send(...asked);
  if (response.ok) return response;
  let error = await readError(response);
  if (error.code === 'not_signed_in') {
    // Confirming the password renews the cookie; this request may have been sent with the old one.
    const again = await send(...asked);
    if (again.ok) return again;
    error = await readError(again);
  }
  if (error.code === 'step_up_required' && (await proveAgain())) return await request(...asked);
  if (error.status === 401 && error.code === 'not_signed_in') onSignedOut();
  throw error;
}

async function call<Data>(...asked: Asked): Promise<Data> {
  const response = await request(...asked);
  if (response.status === 204) return undefined as Data;
  return (await response.json()) as Data;
}

async function send(...[method, path, body, abort]: Asked): Promise<Response> {
  try {
    return await fetch(apiUrl(path), {
      method,
      credentials: 'same-origin',
      ...(body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      signal: abort ?? null,
    });
  } catch (error) {
    if (abort?.aborted) throw error;
    const message = t('Can’t reach the server. Check your connection and try again.');
    throw new ApiError(0, 'unreachable', message);
  }
}

type Envelope = {
  readonly error?: {
    readonly code?: string;
    readonly message?: string;
    readonly param?: string;
    readonly request_id?: string;
    /** The message with its values apart, in place of the text for the code. */
    readonly sentences?: readonly Sentence[];
  };
};

async function readError(response: Response): Promise<ApiError> {
  const envelope = (await response.json().catch(() => ({}))) as Envelope;
  const { code, message, param, request_id, sentences } = envelope.error ?? {};
  return new ApiError(
    response.status,
    code ?? 'unknown',
    sentences?.map(spoken).join('; ') ??
      errorText(
        code ?? 'unknown',
        message ??
          t('The server returned status {status}. Try again in a minute.', {
            status: response.status,
          }),
      ),
    {
      param,
      requestId: request_id || response.headers.get('x-request-id') || undefined,
      retryAfterSeconds: Number(response.headers.get('retry-after')) || undefined,
    },
  );
}

/** The open password prompt, which the dialog of the shell watches. */
export const stepUp = signal<{ readonly done: (proven: boolean) => void } | undefined>(undefined);

let proving: Promise<boolean> | undefined;

/** Prompts for the password once for all calls that need it. */
function proveAgain(): Promise<boolean> {
  proving ??= new Promise<boolean>((resolve) => {
    stepUp.value = { done: resolve };
  }).finally(() => {
    stepUp.value = undefined;
    proving = undefined;
  });
  return proving;
}

/** The signed-out pages, where a 401 is an ordinary error. */
const SIGNED_OUT_PATHS = new Set<string>();

export function declareSignedOut(paths: readonly string[]): void {
  for (const path of paths) SIGNED_OUT_PATHS.add(`${APP_PREFIX}${path}`);
}

/**
 * Reloads the whole page, so that nothing of the old session stays in memory. Replaces the history
 * entry, which would only redirect here again.
 */
export function onSignedOut(reason: SignedOutReason = 'expired'): void {
  const { pathname, search } = window.location;
  if (SIGNED_OUT_PATHS.has(pathname)) return;
  window.location.replace(`${APP_PREFIX}/sign-in${nextQuery(pathname, search, reason)}`);
}
