// Every error that a caller can see: one row per code. The row sets the status, the type in each
// envelope, the retry advice, and the default message. A test checks the table in
// src/docs/customers/errors.md against this one.

import type { LimitView } from './plan.ts';

type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'not_found_error'
  | 'rate_limit_error'
  | 'request_too_large'
  | 'overloaded_error'
  | 'api_error';

/** The chat envelope has one more type: there, an empty balance is not a malformed request. */
type ChatErrorType = ErrorType | 'insufficient_balance_error';

/**
 * `never`: the same request fails until its cause is fixed. `after`: wait for `retry-after`
 * seconds. `backoff`: retry with exponential backoff.
 */
type RetryAdvice = 'never' | 'after' | 'backoff';

type Row = {
  readonly status: number;
  readonly type: ErrorType;
  readonly chatType?: ChatErrorType;
  readonly retry: RetryAdvice;
  readonly text: string;
};

export const ERRORS = {
  invalid_request: {
    status: 400,
    type: 'invalid_request_error',
    retry: 'never',
    text: 'The request is not valid.',
  },
  context_length_exceeded: {
    status: 400,
    type: 'invalid_request_error',
    retry: 'never',
    text: 'The prompt and max_tokens together exceed the maximum context length.',
  },
  missing_api_key: {
    status: 401,
    type: 'authentication_error',
    retry: 'never',
    text: 'No API key was sent. Send it as "Authorization: Bearer <key>" or as "x-api-key: <key>".',
  },
  invalid_api_key: {
    status: 401,
    type: 'authentication_error',
    retry: 'never',
    text: 'The API key is not valid: it is malformed, unknown, revoked or expired. Check it, or use another key.',
  },
  insufficient_balance: {
    status: 402,
    type: 'invalid_request_error',
    chatType: 'insufficient_balance_error',
    retry: 'never',
    text: 'The available balance is below what this request has to reserve. Top up the account, or lower max_tokens.',
  },
  email_not_verified: {
    status: 403,
    type: 'permission_error',
    retry: 'never',
    text: "The account's e-mail address is not verified yet. Verify it, then try again.",
  },
  account_inactive: {
    status: 403,
    type: 'permission_error',
    retry: 'never',
    text: 'The account is suspended or pending deletion. Ask the operator of this service.',
  },
  account_blocked: {
    status: 403,
    type: 'permission_error',
    retry: 'never',
    text: 'The account is blocked. Ask the operator of this service.',
  },
  api_key_blocked: {
    status: 403,
    type: 'permission_error',
    retry: 'never',
    text: 'This API key is blocked. Use another key, or ask the operator of this service.',
  },
  ip_blocked: {
    status: 403,
    type: 'permission_error',
    retry: 'never',
    text: 'Requests from this network address are blocked. Ask the operator of this service.',
  },
  model_not_in_plan: {
    status: 403,
    type: 'permission_error',
    retry: 'never',
    text: "The account's plan does not include this model. GET /v1/models shows which are available to it.",
  },
  session_required: {
    status: 403,
    type: 'permission_error',
    retry: 'never',
    text: 'An API key cannot create, rotate or revoke keys. That needs a signed-in dashboard session.',
  },
  operator_only: {
    status: 403,
    type: 'permission_error',
    retry: 'never',
    text: 'This is for the operator of the service. An API key is not accepted here.',
  },
  not_found: {
    status: 404,
    type: 'not_found_error',
    retry: 'never',
    text: 'Nothing is served at this path. Chat-completions clients use a base URL that ends in /v1, Messages clients one without it.',
  },
  model_not_found: {
    status: 404,
    type: 'not_found_error',
    retry: 'never',
    text: 'There is no model with this slug or alias. GET /v1/models lists them.',
  },
  method_not_allowed: {
    status: 405,
    type: 'invalid_request_error',
    retry: 'never',
    text: 'This path does not answer this method. The allow header names the ones that it does.',
  },
  payload_too_large: {
    status: 413,
    type: 'request_too_large',
    retry: 'never',
    text: 'The request body is over the limit of 2 MB (2,097,152 bytes). Send less.',
  },
  unsupported_media_type: {
    status: 415,
    type: 'invalid_request_error',
    retry: 'never',
    text: 'The body must be plain JSON in UTF-8, sent as application/json and without a content-encoding.',
  },
  misdirected_request: {
    status: 421,
    type: 'invalid_request_error',
    retry: 'never',
    text: 'On the machine of the gateway this is answered under its own names alone: localhost, 127.0.0.1, [::1], and the hosts of OPERATOR_HOST, HOST and BASE_URL. Ask under one of these.',
  },
  rate_limit_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    retry: 'after',
    text: 'The limit of requests per minute is reached. Retry after the time in retry-after.',
  },
  tokens_per_minute_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    retry: 'after',
    text: 'The limit of tokens per minute is reached. Retry after the time in retry-after.',
  },
  concurrency_limit_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    retry: 'after',
    text: 'Too many requests of this account are in flight. Retry when one of them has ended.',
  },
  daily_limit_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    retry: 'after',
    text: "The plan's daily token cap is reached. It starts anew at UTC midnight.",
  },
  monthly_limit_exceeded: {
    status: 429,
    type: 'rate_limit_error',
    retry: 'after',
    text: "The plan's monthly token cap is reached. It starts anew on the first of the next month, UTC.",
  },
  internal_error: {
    status: 500,
    type: 'api_error',
    retry: 'backoff',
    text: 'Something went wrong on our side. Retry with back-off, and quote the request id if it goes on.',
  },
  provider_unavailable: {
    status: 503,
    type: 'overloaded_error',
    retry: 'backoff',
    text: 'The model is not available at the moment, and nothing was charged for this attempt. Retry with back-off.',
  },
  maintenance_mode: {
    status: 503,
    type: 'overloaded_error',
    retry: 'backoff',
    text: 'The service is in maintenance. Retry with back-off.',
  },
} as const satisfies Record<string, Row>;

export type ErrorCode = keyof typeof ERRORS;

type ErrorDetail = {
  /** The message for the caller; defaults to the table's. Never contains the caller's values. */
  readonly message?: string;
  /** The path of the offending field, such as `messages[3].content`. */
  readonly param?: string;
  readonly retryAfterSeconds?: number;
  /** The remaining limits, for the headers of a refusal. */
  readonly limits?: LimitView;
  /** Whether to close the connection, so that another client can use its place. */
  readonly closesConnection?: boolean;
  /** A word that client libraries recognize; Messages only. */
  readonly hint?: ErrorHint;
};

type ErrorHint = 'thread_not_found';

/** The only error that request code throws on purpose. Any other is answered as internal. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  readonly param: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly limits: LimitView | undefined;
  readonly hint: ErrorHint | undefined;
  readonly closesConnection: boolean;

  constructor(code: ErrorCode, detail: ErrorDetail = {}) {
    super(detail.message ?? ERRORS[code].text);
    this.code = code;
    this.param = detail.param;
    this.retryAfterSeconds = detail.retryAfterSeconds;
    this.limits = detail.limits;
    this.hint = detail.hint;
    this.closesConnection = detail.closesConnection ?? false;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }

  get messagesType(): ErrorType {
    return ERRORS[this.code].type;
  }

  get chatType(): ChatErrorType {
    const row: Row = ERRORS[this.code];
    return row.chatType ?? row.type;
  }

  /**
   * Whether to tell SDKs not to retry automatically. Waits above a minute count too: one SDK sleeps
   * for any `retry-after`, up to 24 days.
   */
  get forbidsRetry(): boolean {
    if (this.retryAfterSeconds !== undefined && this.retryAfterSeconds > 60) return true;
    return this.status === 401 || this.status === 402 || this.status === 403;
  }
}

/** Shorthand for the most frequent refusal: 400 with the path of the field and the reason. */
export function invalidRequest(param: string, reason: string): GatewayError {
  return new GatewayError('invalid_request', { param, message: `${param}: ${reason}` });
}
