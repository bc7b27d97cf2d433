// The error answers: the envelope of each format, and which codes of the error table a route gives.

import { type TSchema, Type } from '@sinclair/typebox';
import type { ClientFormatName } from '../core/admit.ts';
import { ERRORS, type ErrorCode, GatewayError } from '../core/error.ts';
import { decimal, named, oneOf } from '../dashboard/records/schema.ts';
import { estimated, outcome } from './answers.ts';
import type { AnswerHeaders } from './headers.ts';
import { errorAnswer, type JsonRecord } from './schemas.ts';

const CODES = Object.keys(ERRORS) as ErrorCode[];

const code = Type.Unsafe({ $id: 'ErrorCode', type: 'string', enum: CODES });

/** What the envelopes say beside the type; a stream that failed also says what it has cost. */
export const errorMembers = {
  message: Type.String(),
  code,
  request_id: Type.String({ pattern: '^req_' }),
  param: Type.Optional(Type.String({ description: 'The field of the request that is wrong.' })),
  svc_tokens_debited: Type.Optional(decimal),
  svc_cost_usd: Type.Optional(decimal),
  svc_balance_tokens: Type.Optional(decimal),
  svc_outcome: Type.Optional(outcome),
  svc_estimated: estimated,
};

export const typedError = Type.Object({
  type: typesOf(({ chatType }) => chatType),
  ...errorMembers,
});

export const chatError = named('ChatError', { error: typedError });

export const messagesError = named('MessagesError', {
  type: Type.Literal('error'),
  error: Type.Object({
    type: typesOf(({ messagesType }) => messagesType),
    ...errorMembers,
    details: Type.Optional(Type.Object({ error_code: Type.Literal('thread_not_found') })),
  }),
});

function typesOf(type: (error: GatewayError) => string): TSchema {
  return oneOf(...new Set(CODES.map((each) => type(new GatewayError(each)))));
}

/** What every request with a key may be answered. */
export const KEY_CODES: readonly ErrorCode[] = [
  ...(['missing_api_key', 'invalid_api_key', 'email_not_verified', 'account_inactive'] as const),
  ...(['account_blocked', 'api_key_blocked', 'key_paused', 'ip_blocked'] as const),
  ...(['address_not_allowed', 'maintenance_mode'] as const),
  ...(['internal_error', 'provider_unavailable'] as const),
];

/** What a request with a body for a model may be answered besides. */
export const PROMPT_CODES: readonly ErrorCode[] = [
  ...(['invalid_request', 'payload_too_large', 'unsupported_media_type'] as const),
  ...(['model_not_found', 'model_not_in_plan', 'model_not_allowed_for_key'] as const),
  ...(['rate_limit_exceeded', 'concurrency_limit_exceeded'] as const),
];

export const GENERATION_CODES: readonly ErrorCode[] = [
  ...KEY_CODES,
  ...PROMPT_CODES,
  ...(['context_length_exceeded', 'tokens_per_minute_exceeded'] as const),
  ...(['daily_limit_exceeded', 'monthly_limit_exceeded'] as const),
  'insufficient_balance',
  ...(['idempotent_request_running', 'idempotent_answer_lost', 'idempotency_key_reused'] as const),
  'key_budget_exhausted',
];

/** The error answers of a route, by status. */
export function errorAnswers(
  format: ClientFormatName,
  codes: readonly ErrorCode[],
  headersOf: (codes: readonly ErrorCode[]) => AnswerHeaders,
): readonly (readonly [status: number, answer: JsonRecord])[] {
  const envelope = format === 'messages' ? messagesError : chatError;
  const byStatus = Map.groupBy(codes, (each) => ERRORS[each].status);
  return [...byStatus]
    .map(
      ([status, those]) => [status, errorAnswer(envelope, those, { ...headersOf(those) })] as const,
    )
    .toSorted(([a], [b]) => a - b);
}

/** An event of a stream, with its name, or one of its names, if it has any. */
export function event(name: string | TSchema | undefined, data: TSchema): TSchema {
  return Type.Object({
    ...(name === undefined ? {} : { event: typeof name === 'string' ? Type.Literal(name) : name }),
    data: Type.Unsafe({
      type: 'string',
      contentMediaType: 'application/json',
      contentSchema: data,
    }),
  });
}
