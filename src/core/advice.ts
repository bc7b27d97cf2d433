// What a customer can do about a failed or refused request: one sentence per reason, shown beside
// its message on the pages, in lists and in exports.

import { ERRORS, type ErrorCode } from './error.ts';
import { type FailureReason, type RequestFailure, receivedFailure } from './request-failure.ts';

/** Why a request failed or was refused: the code of a refusal, or the reason of a failure. */
export type ProblemReason = ErrorCode | FailureReason;

/** What the client of a failed or refused request received, and what it can do. */
export type RequestProblem = {
  /** Null if the connection broke before there was a status. */
  readonly status: number | null;
  readonly code: ErrorCode | null;
  readonly reason: ProblemReason;
  readonly message: string;
  readonly what_to_do: string;
};

export function failureProblem(failure: RequestFailure): RequestProblem {
  const { reason, ...received } = receivedFailure(failure);
  return { ...received, reason, what_to_do: ADVICE[reason] };
}

/** `message` is the one that the client received, if it is not the code's own. */
export function refusalProblem(code: ErrorCode, message?: string | null): RequestProblem {
  const { status, text } = ERRORS[code];
  return { status, code, reason: code, message: message ?? text, what_to_do: ADVICE[code] };
}

const ADVICE: Readonly<Record<ProblemReason, string>> = {
  model_rejected: 'Correct the request. Sent again unchanged, it fails again.',
  content_refused: 'Change what the request asks for. Sent again unchanged, it fails again.',
  request_too_large: 'Send fewer messages or smaller images, or use another model.',
  prompt_too_long: 'Shorten the messages, or use a model with a longer context.',
  image_unsupported: 'Send PNG, JPEG, GIF or WebP as base64 data, or use another model.',
  model_unavailable: 'Retry with back-off, or use another model.',
  interrupted: 'Retry the request. Only what was delivered is charged.',
  service_stopped: 'Retry the request.',
  service_lost: 'Retry the request.',
  internal_error: 'Retry with back-off. If it goes on, send the request id to support.',
  invalid_request: 'Correct the field that the message names, then send the request again.',
  context_length_exceeded: 'Shorten the messages, or lower max_tokens.',
  missing_api_key: 'Send the key in the authorization or x-api-key header.',
  invalid_api_key: 'Replace the key in your program: it is revoked, expired or unknown.',
  insufficient_balance: 'Add balance, or lower max_tokens.',
  key_budget_exhausted: 'Raise the budget of the key, use another key, or send less.',
  key_paused: 'Resume the key on the Keys page, or use another key.',
  address_not_allowed: 'Call from an allowed network, or change the networks of the key.',
  model_not_allowed_for_key: 'Use a model of the key, or change its list of models.',
  email_not_verified: 'Verify the e-mail address of your account.',
  account_inactive: 'Contact support.',
  account_blocked: 'Contact support.',
  api_key_blocked: 'Use another key, or contact support.',
  ip_blocked: 'Send requests from another network, or contact support.',
  model_not_in_plan: 'Use a model of your plan, or change the plan.',
  session_required: 'Manage keys in the dashboard.',
  operator_only: 'Only the operator of this service can use this path.',
  not_found: 'Check the base URL of your client.',
  model_not_found: 'Choose a model from the list of models.',
  method_not_allowed: 'Use the method that the allow header names.',
  idempotent_request_running: 'Retry with the same Idempotency-Key.',
  idempotent_answer_lost: 'Use a new Idempotency-Key to ask again, which is charged.',
  payload_too_large: 'Send a smaller body, for example smaller images.',
  unsupported_media_type: 'Send plain JSON as application/json without content-encoding.',
  misdirected_request: 'Use the public address of this service.',
  idempotency_key_reused: 'Use a new Idempotency-Key for each new request.',
  websocket_not_offered: 'Set your client to HTTP if it does not change by itself.',
  rate_limit_exceeded: 'Wait for retry-after, and send fewer requests per minute.',
  tokens_per_minute_exceeded: 'Wait for retry-after, or send smaller requests.',
  concurrency_limit_exceeded: 'Wait until one of your running requests has ended.',
  daily_limit_exceeded: 'Wait until midnight UTC, or change the plan.',
  monthly_limit_exceeded: 'Wait until the first of the month (UTC), or change the plan.',
  provider_unavailable: 'Retry with back-off.',
  maintenance_mode: 'Retry later.',
};
