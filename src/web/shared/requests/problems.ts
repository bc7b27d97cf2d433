// What a customer can do about a failed or refused request. The message is the one that the client
// received, so it is shown as it is, in any language.

import type { ProblemRecord } from '../../../dashboard/records/customer-request.ts';
import { t } from '../../text/t.ts';

type Advice = Readonly<Partial<Record<ProblemRecord['reason'], string>>>;

export function problemAdvice({ reason, what_to_do: advice }: ProblemRecord): string {
  return ADVICE[reason] ?? advice;
}

/** By the codes of errors that requests of customers can have. */
const CODE_ADVICE = {
  invalid_request: t('Correct the field that the message names, then send the request again.'),
  context_length_exceeded: t('Shorten the messages, or lower max_tokens.'),
  invalid_api_key: t('Replace the key in your program: it is revoked, expired or unknown.'),
  insufficient_balance: t('Add balance, or lower max_tokens.'),
  key_budget_exhausted: t('Raise the budget of the key, use another key, or send less.'),
  email_not_verified: t('Verify the e-mail address of your account.'),
  account_inactive: t('Contact support.'),
  account_blocked: t('Contact support.'),
  api_key_blocked: t('Use another key, or contact support.'),
  key_paused: t('Resume the key on the Keys page, or use another key.'),
  ip_blocked: t('Send requests from another network, or contact support.'),
  address_not_allowed: t('Call from an allowed network, or change the networks of the key.'),
  model_not_in_plan: t('Use a model of your plan, or change the plan.'),
  model_not_allowed_for_key: t('Use a model of the key, or change its list of models.'),
  model_not_found: t('Choose a model from the list of models.'),
  payload_too_large: t('Send a smaller body, for example smaller images.'),
  unsupported_media_type: t('Send plain JSON as application/json without content-encoding.'),
  websocket_not_offered: t('Set your client to HTTP if it does not change by itself.'),
  rate_limit_exceeded: t('Wait for retry-after, and send fewer requests per minute.'),
  tokens_per_minute_exceeded: t('Wait for retry-after, or send smaller requests.'),
  concurrency_limit_exceeded: t('Wait until one of your running requests has ended.'),
  daily_limit_exceeded: t('Wait until midnight UTC, or change the plan.'),
  monthly_limit_exceeded: t('Wait until the first of the month (UTC), or change the plan.'),
  internal_error: t('Retry with back-off. If it goes on, send the request id to support.'),
  provider_unavailable: t('Retry with back-off.'),
  maintenance_mode: t('Retry later.'),
} satisfies Advice;

export const ERROR_CODES: readonly string[] = Object.keys(CODE_ADVICE);

/** Others do not reach the pages of customers. */
const ADVICE: Advice = {
  model_rejected: t('Correct the request. Sent again unchanged, it fails again.'),
  content_refused: t('Change what the request asks for. Sent again unchanged, it fails again.'),
  request_too_large: t('Send fewer messages or smaller images, or use another model.'),
  prompt_too_long: t('Shorten the messages, or use a model with a longer context.'),
  image_unsupported: t('Send PNG, JPEG, GIF or WebP as base64 data, or use another model.'),
  model_unavailable: t('Retry with back-off, or use another model.'),
  interrupted: t('Retry the request. Only what was delivered is charged.'),
  service_stopped: t('Retry the request.'),
  service_lost: t('Retry the request.'),
  ...CODE_ADVICE,
};
