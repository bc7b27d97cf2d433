// Checks a refusal of any cause: the whole envelope of a format and the headers of its code,
// against the one table of errors.

import { expect } from 'bun:test';
import { ERRORS, type ErrorCode, GatewayError } from '../../src/core/error.ts';
import type { EveryFormat, JsonAnswer } from './client.ts';

export type RefusalDetail = {
  /** The text; the table's where absent. */
  readonly message?: string | RegExp;
  readonly param?: string;
};

const LIMIT_HEADERS = [
  'x-ratelimit-limit-requests',
  'x-ratelimit-limit-tokens',
  'x-ratelimit-remaining-requests',
  'x-ratelimit-remaining-tokens',
  'x-ratelimit-reset-requests',
];

/** Holds status, headers and the whole body against the row of `code`. */
export function expectRefusal(
  answer: JsonAnswer,
  format: EveryFormat,
  code: ErrorCode,
  detail: RefusalDetail = {},
): void {
  const row = new GatewayError(code);
  const requestId = answer.headers.get('x-request-id') ?? '';
  const message =
    detail.message instanceof RegExp
      ? expect.stringMatching(detail.message)
      : (detail.message ?? tableText(code));
  const error = {
    message,
    type: format === 'messages' ? row.messagesType : row.chatType,
    code,
    request_id: requestId,
    ...(detail.param === undefined ? {} : { param: detail.param }),
  };
  const body = format === 'messages' ? { type: 'error', error } : { error };
  expect({ status: answer.status, json: answer.json }).toEqual({ status: row.status, json: body });
  expect(requestId).toMatch(/^req_[A-Za-z0-9]{20,}$/);
  expect(answer.headers.get('request-id')).toBe(requestId);
  expect(answer.headers.get('content-type')).toBe('application/json');
  expectRetryAdvice(answer);
}

/** The one text of the table that is completed: with the path that was asked for. */
function tableText(code: ErrorCode) {
  const { text } = ERRORS[code];
  return code === 'not_found' ? expect.stringContaining(text.split('this path')[1] ?? '') : text;
}

/** `retry-after` on every 429 and nowhere else; SDKs see where a retry makes no sense. */
function expectRetryAdvice({ status, headers }: JsonAnswer): void {
  const retryAfter = headers.get('retry-after');
  if (status === 429) expect(retryAfter).toMatch(/^[1-9]\d*$/);
  else expect(retryAfter).toBeNull();
  const forbidden = [401, 402, 403].includes(status) || Number(retryAfter) > 60;
  expect(headers.get('x-should-retry')).toBe(forbidden ? 'false' : null);
}

/** The names of the rate-limit headers that an answer carries. */
export function limitHeaders(headers: Headers): string[] {
  return LIMIT_HEADERS.filter((name) => headers.has(name));
}

export const ALL_LIMIT_HEADERS: readonly string[] = LIMIT_HEADERS;
