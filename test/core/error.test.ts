// The table of errors, word for word.

import { describe, expect, test } from 'bun:test';
import { ERRORS, type ErrorCode, GatewayError, invalidRequest } from '../../src/core/error.ts';
import type { LimitView } from '../../src/core/plan.ts';

type Expected = [status: number, messagesType: string, chatType: string, forbidsRetry: boolean];

const EXPECTED: Readonly<Record<ErrorCode, Expected>> = {
  // Specification, "Codes".
  invalid_request: [400, 'invalid_request_error', 'invalid_request_error', false],
  context_length_exceeded: [400, 'invalid_request_error', 'invalid_request_error', false],
  missing_api_key: [401, 'authentication_error', 'authentication_error', true],
  invalid_api_key: [401, 'authentication_error', 'authentication_error', true],
  insufficient_balance: [402, 'invalid_request_error', 'insufficient_balance_error', true],
  email_not_verified: [403, 'permission_error', 'permission_error', true],
  account_inactive: [403, 'permission_error', 'permission_error', true],
  account_blocked: [403, 'permission_error', 'permission_error', true],
  api_key_blocked: [403, 'permission_error', 'permission_error', true],
  ip_blocked: [403, 'permission_error', 'permission_error', true],
  model_not_in_plan: [403, 'permission_error', 'permission_error', true],
  model_not_found: [404, 'not_found_error', 'not_found_error', false],
  payload_too_large: [413, 'request_too_large', 'request_too_large', false],
  rate_limit_exceeded: [429, 'rate_limit_error', 'rate_limit_error', false],
  tokens_per_minute_exceeded: [429, 'rate_limit_error', 'rate_limit_error', false],
  concurrency_limit_exceeded: [429, 'rate_limit_error', 'rate_limit_error', false],
  daily_limit_exceeded: [429, 'rate_limit_error', 'rate_limit_error', false],
  monthly_limit_exceeded: [429, 'rate_limit_error', 'rate_limit_error', false],
  provider_unavailable: [503, 'overloaded_error', 'overloaded_error', false],
  maintenance_mode: [503, 'overloaded_error', 'overloaded_error', false],
  // Beyond it.
  key_budget_exhausted: [402, 'invalid_request_error', 'insufficient_balance_error', true],
  key_paused: [403, 'permission_error', 'permission_error', true],
  address_not_allowed: [403, 'permission_error', 'permission_error', true],
  model_not_allowed_for_key: [403, 'permission_error', 'permission_error', true],
  session_required: [403, 'permission_error', 'permission_error', true],
  operator_only: [403, 'permission_error', 'permission_error', true],
  not_found: [404, 'not_found_error', 'not_found_error', false],
  method_not_allowed: [405, 'invalid_request_error', 'invalid_request_error', false],
  misdirected_request: [421, 'invalid_request_error', 'invalid_request_error', false],
  unsupported_media_type: [415, 'invalid_request_error', 'invalid_request_error', false],
  idempotent_request_running: [409, 'invalid_request_error', 'invalid_request_error', false],
  idempotent_answer_lost: [410, 'invalid_request_error', 'invalid_request_error', true],
  websocket_not_offered: [426, 'invalid_request_error', 'invalid_request_error', false],
  idempotency_key_reused: [422, 'invalid_request_error', 'invalid_request_error', false],
  internal_error: [500, 'api_error', 'api_error', false],
};

const codes = Object.keys(ERRORS) as ErrorCode[];

test('the table has exactly these codes, each with its status, types and advice', () => {
  const actual: Record<string, Expected> = Object.fromEntries(
    codes.map((code) => {
      const error = new GatewayError(code);
      const row: Expected = [error.status, error.messagesType, error.chatType, error.forbidsRetry];
      return [code, row];
    }),
  );
  expect(actual).toEqual(EXPECTED);
});

test.each(codes)('%s: the text is whole sentences that name no caller', (code) => {
  const { text, retry, status } = ERRORS[code];
  expect(text).toMatch(/^[A-Z].*\.$/);
  expect(new GatewayError(code).message).toBe(text);
  expect(retry).toBe(
    status === 429 || status === 409 ? 'after' : status >= 500 ? 'backoff' : 'never',
  );
});

describe('a detail', () => {
  const limits: LimitView = {
    limitRequests: 60,
    remainingRequests: 0,
    limitTokens: 200_000,
    remainingTokens: 10,
    resetRequestsSeconds: 7,
  };

  test('replaces the text and is carried as it is', () => {
    const error = new GatewayError('rate_limit_exceeded', {
      message: 'Other words.',
      param: 'messages[3].content',
      retryAfterSeconds: 7,
      limits,
    });
    const { message, param, retryAfterSeconds } = error;
    expect({ message, param, retryAfterSeconds, limits: error.limits }).toEqual({
      message: 'Other words.',
      param: 'messages[3].content',
      retryAfterSeconds: 7,
      limits,
    });
    expect(error).toBeInstanceOf(Error);
    expect(error.name).toBe('GatewayError');
  });

  test.each([
    [1, false],
    [60, false],
    [61, true],
    [86_400, true],
  ])('a wait of %i seconds forbids retries: %p', (retryAfterSeconds, forbids) => {
    const error = new GatewayError('daily_limit_exceeded', { retryAfterSeconds });
    expect(error.forbidsRetry).toBe(forbids);
  });

  test('the shorthand puts the field before the reason', () => {
    const { code, message, param } = invalidRequest('tools[2].type', 'must be "function"');
    expect({ code, message, param }).toEqual({
      code: 'invalid_request',
      message: 'tools[2].type: must be "function"',
      param: 'tools[2].type',
    });
  });
});
