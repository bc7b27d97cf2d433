// A model as the console lists it: upstreams, price, and sales of the last day.

import { pricingRecord } from '../catalog/pricing-record.ts';
import { modelState, placeState, type UpstreamState } from '../core/health.ts';
import type { Catalog, Model } from '../core/model.ts';
import { formatTokens, formatUsd, ZERO } from '../core/money.ts';
import { planIncludes } from '../core/plan.ts';
import { wordsOf } from '../core/sentence.ts';
import type { ModelFigures } from '../ledger/series/models.ts';
import type { incidentRecord } from './incidents.ts';

type Facts = {
  readonly incident: ReturnType<typeof incidentRecord> | null;
  readonly states: readonly UpstreamState[];
  readonly used: ModelFigures | undefined;
  readonly requested: number;
  readonly nowMs: number;
};

export function operatorModelRecord(catalog: Catalog, model: Model, facts: Facts) {
  const { incident, states, used, nowMs } = facts;
  const { usdPerMillion } = catalog;
  const placements = placementsOf(model, states);
  const {
    currency: _,
    unit: __,
    schedule: ___,
    next_change_at,
    ...price
  } = pricingRecord(model.prices, usdPerMillion, nowMs);
  return {
    id: model.slug,
    object: 'model',
    display_name: model.displayName,
    description: model.description,
    aliases: model.aliases,
    context_window: model.contextWindow,
    max_output_tokens: model.maxOutput,
    features: [...model.features],
    plans: [...catalog.plans.values()]
      .filter((plan) => planIncludes(plan, model.slug))
      .map(({ slug }) => slug),
    fallbacks: model.fallbacks,
    price,
    next_change_at,
    incident,
    /** Lower limits set by the catalog. */
    has_catalog_limits: model.incidentLimits !== undefined,
    placements,
    /** Whether a request for it can be answered now, directly or by a fallback. */
    state: modelState(placements.map(({ state }) => state)),
    /** What it served; `requested` counts requests for it, whichever model served. */
    last_day: {
      requests: used?.requests ?? 0,
      requested: facts.requested,
      failed: used?.failed ?? 0,
      output_tokens: used?.outputTokens ?? 0,
      spent: formatTokens(used?.debited ?? ZERO),
      spent_usd: formatUsd(used?.debited ?? ZERO, usdPerMillion),
    },
  } as const;
}

function placementsOf({ slug, servedBy }: Model, states: readonly UpstreamState[]) {
  return servedBy.map(({ upstream, model, weight, cost, profileChoice }) => {
    const state = states.find((each) => each.upstream === upstream);
    const known = state?.models.find((each) => each.model === slug);
    return {
      upstream,
      upstream_model: model,
      weight,
      state: placeState(known),
      breaker: known?.breaker ?? 'closed',
      disabled: known?.disabled === true,
      has_cost: cost !== undefined,
      profile: profileChoice.name,
      profile_reason: wordsOf(profileChoice.reason),
    } as const;
  });
}
