// The error codes that a caller can see, one row each, with the status and the default message. The
// status sets the type in each envelope and the retry advice. A test checks the table in
// src/docs/customers/errors.md against this one.

export type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'not_found_error'
  | 'rate_limit_error'
  | 'request_too_large'
  | 'overloaded_error'
  | 'api_error';

/** The chat envelope has one more type: there, an empty balance is not a malformed request. */
export type ChatErrorType = ErrorType | 'insufficient_balance_error';

/**
 * `never`: the same request fails until its cause is fixed. `after`: wait for `retry-after`
 * seconds. `backoff`: retry with exponential backoff.
 */
type RetryAdvice = 'never' | 'after' | 'backoff';

type StatusRow = {
  readonly type: ErrorType;
  readonly chatType?: ChatErrorType;
  readonly retry: RetryAdvice;
};

const STATUSES = {
  400: { type: 'invalid_request_error', retry: 'never' },
  401: { type: 'authentication_error', retry: 'never' },
  402: { type: 'invalid_request_error', chatType: 'insufficient_balance_error', retry: 'never' },
  403: { type: 'permission_error', retry: 'never' },
  404: { type: 'not_found_error', retry: 'never' },
  405: { type: 'invalid_request_error', retry: 'never' },
  409: { type: 'invalid_request_error', retry: 'after' },
  410: { type: 'invalid_request_error', retry: 'never' },
  413: { type: 'request_too_large', retry: 'never' },
  415: { type: 'invalid_request_error', retry: 'never' },
  421: { type: 'invalid_request_error', retry: 'never' },
  422: { type: 'invalid_request_error', retry: 'never' },
  426: { type: 'invalid_request_error', retry: 'never' },
  429: { type: 'rate_limit_error', retry: 'after' },
  500: { type: 'api_error', retry: 'backoff' },
  503: { type: 'overloaded_error', retry: 'backoff' },
} as const satisfies Readonly<Record<number, StatusRow>>;

type ErrorRow = { readonly status: keyof typeof STATUSES; readonly text: string };

const ROWS = {
  invalid_request: { status: 400, text: 'The request is not valid.' },
  context_length_exceeded: {
    status: 400,
    text: 'The prompt and max_tokens together exceed the maximum context length.',
  },
  missing_api_key: {
    status: 401,
    text: 'No API key was sent. Send it as "Authorization: Bearer <key>" or as "x-api-key: <key>".',
  },
  invalid_api_key: {
    status: 401,
    text: 'The API key is not valid: it is malformed, unknown, revoked or expired. Check it, or use another key.',
  },
  insufficient_balance: {
    status: 402,
    text: 'The available balance is below what this request has to reserve. Top up the account, or lower max_tokens.',
  },
  key_budget_exhausted: {
    status: 402,
    text: "The rest of this API key's budget is below what this request may cost. Raise the budget on the dashboard, send less, or use another key.",
  },
  email_not_verified: {
    status: 403,
    text: "The account's e-mail address is not verified yet. Verify it, then try again.",
  },
  account_inactive: {
    status: 403,
    text: 'The account is suspended or pending deletion. Ask the operator of this service.',
  },
  account_blocked: {
    status: 403,
    text: 'The account is blocked. Ask the operator of this service.',
  },
  api_key_blocked: {
    status: 403,
    text: 'This API key is blocked. Use another key, or ask the operator of this service.',
  },
  key_paused: {
    status: 403,
    text: 'This API key is paused. Resume it on the Keys page of the dashboard, or use another key.',
  },
  ip_blocked: {
    status: 403,
    text: 'Requests from this network address are blocked. Ask the operator of this service.',
  },
  address_not_allowed: {
    status: 403,
    text: 'This API key does not accept requests from this network address. Call from an allowed network, or change the networks of the key on the dashboard.',
  },
  model_not_in_plan: {
    status: 403,
    text: "The account's plan does not include this model. GET /v1/models shows which are available to it.",
  },
  model_not_allowed_for_key: {
    status: 403,
    text: 'This API key may not use this model. Use another model, or change the models of the key on the dashboard. GET /v1/models lists what this key may use.',
  },
  session_required: {
    status: 403,
    text: 'An API key cannot create, rotate or revoke keys. That needs a signed-in dashboard session.',
  },
  operator_only: {
    status: 403,
    text: 'This is for the operator of the service. An API key is not accepted here.',
  },
  not_found: {
    status: 404,
    text: 'Nothing is served at this path. OpenAI clients use a base URL that ends in /v1, Anthropic clients one without /v1.',
  },
  model_not_found: {
    status: 404,
    text: 'There is no model with this slug or alias. GET /v1/models lists them.',
  },
  method_not_allowed: {
    status: 405,
    text: 'This path does not answer this method. The allow header names the ones that it does.',
  },
  idempotent_request_running: {
    status: 409,
    text: 'The first request with this Idempotency-Key is still running. Nothing was charged for this repeat. Retry with the same key after the time in retry-after.',
  },
  idempotent_answer_lost: {
    status: 410,
    text: 'The first request with this Idempotency-Key was charged, but its answer is no longer kept. Nothing was charged for this repeat. Use a new key to ask again.',
  },
  payload_too_large: {
    status: 413,
    text: 'The request body is over the limit of 2 MB (2,097,152 bytes). Send less.',
  },
  unsupported_media_type: {
    status: 415,
    text: 'The body must be plain JSON in UTF-8, sent as application/json and without a content-encoding.',
  },
  misdirected_request: {
    status: 421,
    text: 'On the machine of the gateway this is answered under its own names alone: localhost, 127.0.0.1, [::1], and the hosts of OPERATOR_HOST, HOST and BASE_URL. Ask under one of these.',
  },
  idempotency_key_reused: {
    status: 422,
    text: 'This Idempotency-Key was used for a request with another body or format in the last 24 hours. Use a new key for a new request.',
  },
  websocket_not_offered: {
    status: 426,
    text: 'This path has no WebSocket. Send POST /v1/responses over HTTP, with "stream": true for events.',
  },
  rate_limit_exceeded: {
    status: 429,
    text: 'The limit of requests per minute is reached. Retry after the time in retry-after.',
  },
  tokens_per_minute_exceeded: {
    status: 429,
    text: 'The limit of tokens per minute is reached. Retry after the time in retry-after.',
  },
  concurrency_limit_exceeded: {
    status: 429,
    text: 'Too many requests of this account are in flight. Retry when one of them has ended.',
  },
  daily_limit_exceeded: {
    status: 429,
    text: "The plan's daily token cap is reached. It resets at UTC midnight.",
  },
  monthly_limit_exceeded: {
    status: 429,
    text: "The plan's monthly token cap is reached. It resets on the first of the next month, UTC.",
  },
  internal_error: {
    status: 500,
    text: 'Something went wrong on our side. Retry with back-off, and quote the request id if it goes on.',
  },
  provider_unavailable: {
    status: 503,
    text: 'The model is not available at the moment, and nothing was charged for this attempt. Retry with back-off.',
  },
  maintenance_mode: { status: 503, text: 'The service is in maintenance. Retry with back-off.' },
} as const satisfies Readonly<Record<string, ErrorRow>>;

export type ErrorCode = keyof typeof ROWS;

// The return type of Object.fromEntries loses the keys.
export const ERRORS = Object.fromEntries(
  Object.entries(ROWS).map(([code, row]) => [code, { ...STATUSES[row.status], ...row }]),
) as Readonly<Record<ErrorCode, StatusRow & ErrorRow>>;
