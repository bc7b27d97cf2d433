// The answer of GET /v1/api-keys.

import { Type } from '@sinclair/typebox';
import { count, decimal, instant, named, nullable, oneOf } from './answers.ts';

const budgetLimit = nullable(
  Type.Object({
    limit: decimal,
    limit_usd: decimal,
    spent: decimal,
    spent_usd: decimal,
    remaining: decimal,
    renews_at: nullable(instant),
  }),
);

export const apiKey = named('ApiKey', {
  id: Type.String(),
  object: Type.Literal('api_key'),
  name: nullable(Type.String()),
  masked: Type.String(),
  status: oneOf('active', 'expired', 'revoked'),
  created_at: instant,
  expires_at: nullable(instant),
  last_used_at: nullable(instant),
  revoked_at: nullable(instant),
  revoked_reason: nullable(Type.String()),
  rotated_from: nullable(Type.String()),
  replaced_by: nullable(Type.String()),
  models: nullable(Type.Array(Type.String())),
  networks: nullable(Type.Array(Type.String())),
  paused_at: nullable(instant),
  paused_reason: nullable(oneOf('user', 'operator', 'runaway')),
  runaway_guard: Type.Boolean(),
  budget: nullable(
    Type.Object({
      total: budgetLimit,
      day: budgetLimit,
      month: budgetLimit,
      reserved: decimal,
    }),
  ),
  current: Type.Boolean(),
});

export const apiKeyList = named('ApiKeyList', {
  object: Type.Literal('list'),
  data: Type.Array(apiKey),
  has_more: Type.Boolean(),
  active_count: count,
  active_limit: count,
});
