// The answer of GET /v1/receipts/{request_id}.

import { Type } from '@sinclair/typebox';
import { BASES } from '../core/generation.ts';
import { count, decimal, instant, named, nullable, oneOf, outcome } from './answers.ts';

const usage = named('BilledUsage', {
  basis: oneOf(...BASES),
  input_tokens: count,
  cached_input_tokens: count,
  cache_write_tokens: count,
  output_tokens: count,
  reasoning_tokens: count,
  cached_explicit_tokens: Type.Optional(count),
  cache_write_long_tokens: Type.Optional(count),
  service_tier: Type.Optional(Type.String()),
});

export const receipt = named('Receipt', {
  object: Type.Literal('receipt'),
  request_id: Type.String({ pattern: '^req_' }),
  status: oneOf('in_progress', 'ended'),
  model: Type.String(),
  model_served: nullable(Type.String()),
  outcome: nullable(outcome),
  started_at: instant,
  ended_at: nullable(instant),
  usage: nullable(usage),
  svc_tokens_debited: nullable(decimal),
  svc_cost_usd: nullable(decimal),
  receipt: nullable(
    Type.Object({
      hash: Type.String({ description: 'SHA-256 of `body`, in lower-case hex.' }),
      body: Type.String({ description: 'JSON in a string.' }),
    }),
  ),
});
