// The answer of GET /v1/receipts/{request_id}.

import { Type } from '@sinclair/typebox';
import { BASES } from '../core/generation.ts';
import { count, decimal, estimated, instant, named, nullable, oneOf, outcome } from './answers.ts';

const estimate = named('UsageEstimate', {
  counted_input_tokens: Type.Optional(count),
  input_ratio_percent: Type.Optional(count),
  seen_output_tokens: count,
  unseen_ms: count,
  tokens_after_unseen_time: count,
  output_tokens_per_second: count,
  output_tokens_max: Type.Optional(count),
});

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
  estimate: Type.Optional(estimate),
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
  svc_estimated: estimated,
  receipt: nullable(
    Type.Object({
      hash: Type.String({ description: 'SHA-256 of `body`, in lower-case hex.' }),
      body: Type.String({ description: 'JSON in a string.' }),
    }),
  ),
});
