// The answer of GET /v1/receipts/{request_id}.

import { Type } from '@sinclair/typebox';
import { BASES } from '../core/generation.ts';
import { count, decimal, instant, named, nullable, oneOf } from '../dashboard/records/schema.ts';
import { estimated, outcome } from './answers.ts';

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
  input_tokens: count,
  cached_input_tokens: count,
  cache_write_tokens: count,
  output_tokens: count,
  reasoning_tokens: count,
  basis: oneOf(...BASES),
  cached_explicit_tokens: Type.Optional(count),
  cache_write_long_tokens: Type.Optional(count),
  service_tier: Type.Optional(Type.String()),
  estimate: Type.Optional(estimate),
});

const body = Type.String({ description: 'JSON in a string.' });

const head = {
  object: Type.Literal('receipt'),
  request_id: Type.String({ pattern: '^req_' }),
};

export const receipt = Type.Union([
  named('RunningReceipt', {
    ...head,
    status: Type.Literal('in_progress'),
    model: Type.String(),
    started_at: instant,
  }),
  named('Receipt', {
    ...head,
    status: Type.Literal('ended'),
    model: Type.String(),
    model_served: nullable(Type.String()),
    outcome,
    started_at: instant,
    ended_at: instant,
    usage,
    svc_tokens_debited: decimal,
    svc_cost_usd: decimal,
    svc_estimated: estimated,
    receipt: Type.Object({ hash: Type.String(), body }),
  }),
]);
