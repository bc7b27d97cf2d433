// The headers that answers of the API carry. Those of src/http/respond.ts, and no others.

import { type TSchema, Type } from '@sinclair/typebox';
import type { ErrorCode } from '../core/error.ts';
import { ERRORS } from '../core/error.ts';

export type AnswerHeader = {
  readonly description: string;
  /** Whether it is on every answer of its kind. */
  readonly required: boolean;
  readonly schema: TSchema;
};

export type AnswerHeaders = Readonly<Record<string, AnswerHeader>>;

const header = (description: string, schema: TSchema, required = true): AnswerHeader => {
  return { description, required, schema };
};

const number = Type.Integer({ minimum: 0 });
const decimal = Type.String({ pattern: '^-?\\d+(\\.\\d+)?$' });
const id = Type.String({ pattern: '^req_' });

export const REQUEST_ID: AnswerHeaders = {
  'x-request-id': header('The id of the request. Quote it in questions to the operator.', id),
  'request-id': header('The same, under the name that Messages clients read.', id),
};

const limits = (required: boolean): AnswerHeaders => ({
  'x-ratelimit-limit-requests': header('Requests a minute.', number, required),
  'x-ratelimit-remaining-requests': header('Requests left in this window.', number, required),
  'x-ratelimit-limit-tokens': header('Tokens a minute.', number, required),
  'x-ratelimit-remaining-tokens': header('Tokens left in this window.', number, required),
  'x-ratelimit-reset-requests': header(
    'Seconds until the window resets, such as `12s`.',
    Type.String({ pattern: '^\\d+(\\.\\d+)?s$' }),
    required,
  ),
});

export const GENERATED: AnswerHeaders = {
  ...REQUEST_ID,
  ...limits(true),
  'x-svc-model': header('The model that served the request.', Type.String(), false),
  'x-svc-tokens-debited': header('Service tokens charged. Whole answers only.', decimal, false),
  'x-svc-replayed': header(
    '`true` on the answer of an earlier request with the same `Idempotency-Key`.',
    Type.Literal('true'),
    false,
  ),
  'x-svc-balance': header('The available balance after it. Whole answers only.', decimal, false),
};

/** What an error answer with one of these codes carries. */
export function errorHeaders(codes: readonly ErrorCode[], isGenerated: boolean): AnswerHeaders {
  const waits = codes.every((code) => ERRORS[code].retry === 'after');
  return {
    ...REQUEST_ID,
    ...(isGenerated ? limits(false) : {}),
    'retry-after': header('Seconds to wait before the next attempt.', number, waits),
    'x-should-retry': header('`false` where a retry cannot help.', Type.Literal('false'), false),
  };
}

export const ETAG: AnswerHeaders = {
  etag: header('The version of the description.', Type.String()),
};
