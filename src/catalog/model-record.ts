// The records of `GET /v1/models`, in one shape for both SDK families: it has the members that
// either reads, and no member has two meanings. Pure.

import { isReadOn } from '../core/hidden.ts';
import type { Catalog, Model } from '../core/model.ts';
import { type IncidentLimits, lowerIncident, type Plan, planIncludes } from '../core/plan.ts';
import { priceAt } from '../core/price-book.ts';
import { pricingRecord } from './pricing-record.ts';

export type ListedModel = ReturnType<typeof modelRecord>;

/** Whose list it is: its plan and the models of its key by slug; absent: no restriction. */
type Caller = {
  readonly plan?: Plan | undefined;
  readonly allowed?: ReadonlySet<string> | undefined;
};

/**
 * One model as a caller sees it. `incident` are the operator's
 * run-time limits, in addition to the catalog's. Prices are those at `nowMs`.
 */
export function modelRecord(
  model: Model,
  catalog: Catalog,
  { plan, allowed }: Caller,
  incident: IncidentLimits | undefined,
  nowMs: number,
) {
  const price = priceAt(model.prices, nowMs);
  const effectiveContext = Math.min(model.contextWindow, plan?.maxContext ?? model.contextWindow);
  const limits = incidentRecord(lowerIncident(model.incidentLimits, incident));
  const reasons = model.features.has('reasoning');
  const continues = model.servedBy.some(({ upstream: id, profile }) => {
    const upstream = catalog.upstreams.get(id);
    return upstream !== undefined && isReadOn({ model, upstream, profile });
  });
  const vision = model.features.has('vision');
  return {
    id: model.slug,
    object: 'model',
    type: 'model',
    created: model.created,
    created_at: new Date(model.created * 1_000).toISOString().replace('.000Z', 'Z'),
    owned_by: catalog.serviceName,
    display_name: model.displayName,
    description: model.description,
    aliases: model.aliases,
    context_window: model.contextWindow,
    effective_context: effectiveContext,
    max_output_tokens: model.maxOutput,
    // The names that Messages clients read.
    max_input_tokens: effectiveContext,
    max_tokens: model.maxOutput,
    input_modalities: vision ? ['text', 'image'] : ['text'],
    output_modalities: ['text'],
    features: {
      tools: model.features.has('tools'),
      json_mode: model.features.has('json'),
      vision,
      reasoning: reasons,
      streaming: true,
      prompt_cache: price.cachedInput < price.input,
    },
    capabilities: null,
    reasoning: reasons
      ? { efforts: ['none', 'low', 'high', 'max'], default_effort: 'high', can_disable: true }
      : null,
    pricing: pricingRecord(model.prices, catalog.usdPerMillion, nowMs),
    available:
      (plan === undefined || planIncludes(plan, model.slug)) && allowed?.has(model.slug) !== false,
    plans: [...catalog.plans.values()]
      .filter((each) => planIncludes(each, model.slug))
      .map((each) => each.slug),
    /** What a disconnect does to an answer: on `continues` it is charged to its end. */
    on_disconnect: continues ? 'continues' : 'stops',
    status: limits === null ? 'active' : 'degraded',
    lifecycle: 'active',
    line: null,
    limits,
    deprecation: null,
    deprecated_at: null,
    retires_at: null,
  } as const;
}

/** A page of the list as Messages clients request it: from either end, or next to a model. */
export type ModelPage = {
  readonly limit?: number;
  readonly afterId?: string;
  readonly beforeId?: string;
};

/** The response of `GET /v1/models`: the catalog's models in order, all of them by default. */
export function modelList(
  catalog: Catalog,
  caller: Caller,
  incidentOf: (slug: string) => IncidentLimits | undefined,
  nowMs: number,
  page: ModelPage = {},
) {
  const { models, hasMore } = cut(catalog.models, page);
  const data = models.map((model) =>
    modelRecord(model, catalog, caller, incidentOf(model.slug), nowMs),
  );
  return {
    object: 'list',
    data,
    has_more: hasMore,
    first_id: data.at(0)?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  } as const;
}

/**
 * An unknown model has no neighbours, so the page is empty. Between two models, which the vendor's
 * own suite asks for, the page begins behind the first.
 */
function cut(all: readonly Model[], { limit = all.length, afterId, beforeId }: ModelPage) {
  const indexOf = (id: string): number => all.findIndex(({ slug }) => slug === id);
  const start = afterId === undefined ? 0 : indexOf(afterId) + 1 || all.length;
  const end = beforeId === undefined ? all.length : Math.max(start, indexOf(beforeId));
  const models = all.slice(start, end);
  const isBackwards = beforeId !== undefined && afterId === undefined;
  const page = isBackwards ? models.slice(-limit) : models.slice(0, limit);
  return { models: page, hasMore: models.length > limit };
}

/** Null if no limit is lowered; null members are not lowered. */
function incidentRecord(limits: IncidentLimits | undefined) {
  const record = {
    requests_per_minute: limits?.requestsPerMinute ?? null,
    tokens_per_minute: limits?.tokensPerMinute ?? null,
    concurrent_requests: limits?.concurrentRequests ?? null,
  };
  return Object.values(record).every((value) => value === null) ? null : record;
}
