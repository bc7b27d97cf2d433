// The console's records about models and their incidents.

import { type Static, Type } from '@sinclair/typebox';
import { allRates } from './price.ts';
import { count, decimal, instant, many, named, nullable, oneOf, text } from './schema.ts';

export const incidentAnswer = named('Incident', {
  model: text,
  requests_per_minute: nullable(count),
  tokens_per_minute: nullable(count),
  concurrent_requests: nullable(count),
  reason: text,
  updated_at: instant,
});

const model = named('OperatorModel', {
  id: text,
  object: Type.Literal('model'),
  display_name: text,
  description: text,
  aliases: many(text),
  context_window: count,
  max_output_tokens: count,
  features: many(text),
  plans: many(text),
  fallbacks: many(text),
  price: Type.Object(allRates),
  next_change_at: nullable(instant),
  incident: nullable(incidentAnswer),
  /** Lower limits set by the catalog. */
  has_catalog_limits: Type.Boolean(),
  placements: many(
    Type.Object({
      upstream: text,
      upstream_model: text,
      weight: Type.Number(),
      state: oneOf('healthy', 'idle', 'failing', 'degraded', 'disabled'),
      breaker: oneOf('closed', 'open', 'half_open'),
      disabled: Type.Boolean(),
      has_cost: Type.Boolean(),
      profile: text,
      profile_reason: text,
    }),
  ),
  /** Whether a request for it can be answered now, directly or by a fallback. */
  state: oneOf('healthy', 'idle', 'degraded', 'down'),
  /** What it served; `requested` counts requests for it, whichever model served. */
  last_day: Type.Object({
    requests: count,
    requested: count,
    failed: count,
    output_tokens: count,
    spent: decimal,
    spent_usd: decimal,
  }),
});

/** Incidents of models no longer in the catalog are in `forgotten`. */
export const modelsAnswer = named('OperatorModels', {
  models: many(model),
  forgotten: many(incidentAnswer),
});

export type IncidentRecord = Static<typeof incidentAnswer>;

export type OperatorModelRecord = Static<typeof model>;

export type OperatorModelsRecord = Static<typeof modelsAnswer>;
