// The API client of the pages: JSON below the application's `/api`, errors as `ApiError`, a redirect
// to sign-in on an expired session, and a password prompt for protected actions.

import { signal } from '@preact/signals';
import type { Sentence } from '../../dashboard/records/operator-server.ts';
import { spoken } from '../text/said.ts';
import { language, t } from '../text/t.ts';
import { nextQuery, type SignedOutReason } from './next.ts';

/**
 * For the codes of errors. The server's own messages say more, but in English alone, so these replace
 * them in other languages.
 */
const SENTENCES: Readonly<Record<string, string>> = {
  account_blocked: t('This account is blocked. Contact the operator.'),
  account_inactive: t('This account is not active. Contact the operator.'),
  account_not_found: t('This account does not exist.'),
  already_blocked: t('This target is blocked already.'),
  approval_decided: t('This request was already decided.'),
  approval_expired: t('This request has expired. Ask again.'),
  block_not_found: t('This block does not exist. It may have been removed.'),
  catalog_changed: t('The catalog changed in the meantime. Reload the page and try again.'),
  catalog_not_writable: t('The server can’t write the catalog file.'),
  code_expired: t('This code has expired.'),
  code_not_found: t('This code does not exist. Check it and try again.'),
  code_revoked: t('This code was revoked.'),
  code_used: t('This code was used already.'),
  confirmation_required: t('Confirm this action first.'),
  conflict: t('This changed in the meantime. Reload the page and try again.'),
  cross_origin: t('Open this page at its own address and try again.'),
  email_not_verified: t('Verify your e-mail address first.'),
  email_taken: t('This e-mail address is in use already.'),
  entry_exists: t('An entry with this name already exists.'),
  internal_error: t('Something went wrong on the server. Try again in a minute.'),
  invalid_amount: t('This amount is not valid.'),
  invalid_block: t('This account, key or network is not valid.'),
  invalid_budget: t('This budget is not valid.'),
  invalid_code: t('Incorrect code. Codes change every 30 seconds.'),
  invalid_credentials: t('Incorrect e-mail address or password.'),
  invalid_email: t('This e-mail address is not valid.'),
  invalid_expiry: t('This expiry is not valid. Choose a time in the future.'),
  invalid_invite: t('This invitation is no longer valid. Ask for a new one.'),
  invalid_key_name: t('This name is not valid.'),
  invalid_message: t('This message is not valid.'),
  invalid_models: t('One of these models does not exist.'),
  invalid_networks: t('One of these networks is not valid. Enter addresses or CIDR ranges.'),
  invalid_password: t('Choose a longer password that is harder to guess.'),
  invalid_reason: t('This reason is not valid.'),
  invalid_request: t('A field is not valid. Check what you entered.'),
  invalid_role: t('This role does not exist.'),
  invalid_scopes: t('Choose at least one scope.'),
  invalid_token: t('This link has expired or was used already. Ask for a new one.'),
  key_creation_limit_reached: t('Hourly key limit reached. Try again later.'),
  key_limit_reached: t('Limit of your plan reached. Revoke a key to create another.'),
  key_not_active: t('This key is no longer active.'),
  key_not_found: t('This key does not exist.'),
  last_admin: t('The last admin can’t be removed or demoted.'),
  model_not_found: t('This model does not exist.'),
  not_found: t('Not found. Check the address.'),
  not_signed_in: t('Your session has expired. Sign in again.'),
  operator_exists: t('An operator with this address exists already.'),
  operator_not_found: t('This operator does not exist.'),
  own_approval: t('You, or a token that acts for you, asked for this. Another operator decides.'),
  payload_too_large: t('This is larger than the server accepts.'),
  requests_archived: t('Requests of this period were archived. Choose a later one.'),
  request_archived: t('This request was archived. Its receipt is in the archive of its month.'),
  request_not_found: t('This request does not exist.'),
  role_not_permitted: t('Your role does not allow this. Ask an admin.'),
  sign_in_again: t('Sign in again: this attempt took too long.'),
  sign_up_closed: t('Sign-up is closed. Ask the operator for an invitation.'),
  step_up_required: t('Confirm your password first.'),
  token_exists: t('An active token with this name exists already. Choose another name.'),
  token_not_found: t('This token does not exist.'),
  too_many_attempts: t('Too many attempts. Wait a moment and try again.'),
  too_many_feeds: t('Too many live pages are open. Close one of them.'),
  two_factor_off: t('Two-factor authentication is off.'),
  two_factor_on: t('Two-factor authentication is on already.'),
  unavailable: t('The server can’t answer right now. Try again in a minute.'),
  unknown_plan: t('This plan does not exist.'),
  upstream_not_found: t('This upstream does not exist.'),
};

/** The message of an error of the server in the language of the page. */
function errorText(code: string, message: string): string {
  return language === 'en' ? message : (SENTENCES[code] ?? message);
}

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
