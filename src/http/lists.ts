// GET /v1/models, /v1/models/{slug or alias}, /v1/api-keys and /v1/account: what a key may know
// about its own account. Nothing here is billed or counted.

import { modelList, modelRecord } from '../catalog/model-record.ts';
import { requireModel, requirePlan } from '../core/admit.ts';
import { isoTime, nextUtcDay, nextUtcMonth } from '../core/calendar.ts';
import type { OperatorState } from '../core/operator.ts';
import { lowerIncident, type Plan } from '../core/plan.ts';
import type { KeyFacts } from '../identity/authenticate.ts';
import { balanceRecord } from '../ledger/balance-record.ts';
import type { Books } from '../ledger/books.ts';
import type { AccountLimits } from '../limits/limits.ts';

export type ListDependencies = {
  readonly limits: AccountLimits;
  readonly books: Books;
  readonly clock: () => number;
  /** Records of the account's keys, newest first. */
  readonly keyRecords: (facts: KeyFacts) => readonly { readonly status: string }[];
};

export function listModels(
  { clock }: ListDependencies,
  facts: KeyFacts,
  { catalog, incidentOf }: OperatorState,
): unknown {
  return modelList(catalog, catalog.plans.get(facts.plan), incidentOf, clock());
}

export function showModel(
  { clock }: ListDependencies,
  facts: KeyFacts,
  { catalog, incidentOf }: OperatorState,
  slugOrAlias: string,
): unknown {
  const model = requireModel(catalog, slugOrAlias);
  const incident = incidentOf(model.slug);
  return modelRecord(model, catalog, catalog.plans.get(facts.plan), incident, clock());
}

export function listKeys(
  dependencies: ListDependencies,
  facts: KeyFacts,
  { catalog }: OperatorState,
): unknown {
  const data = dependencies.keyRecords(facts);
  const plan = catalog.plans.get(facts.plan);
  return {
    object: 'list',
    data,
    has_more: false,
    active_count: data.filter((key) => key.status === 'active').length,
    active_limit: plan?.maxApiKeys ?? 0,
  };
}

export function showAccount(
  dependencies: ListDependencies,
  facts: KeyFacts,
  operator: OperatorState,
): unknown {
  const nowMs = dependencies.clock();
  const { catalog } = operator;
  const plan = requirePlan(catalog, facts.plan);
  const keys = dependencies.keyRecords(facts);
  return {
    id: facts.accountId,
    object: 'account',
    email_verified: facts.emailVerified,
    standing: facts.standing,
    plan: { slug: plan.slug, name: plan.name, since: isoTime(facts.planSince) },
    balance: balanceRecord(dependencies.books.balance(facts.accountId), catalog.usdPerMillion),
    limits: {
      requests_per_minute: plan.requestsPerMinute,
      tokens_per_minute: plan.tokensPerMinute,
      concurrent_requests: plan.concurrentRequests,
      max_context_tokens: plan.maxContext,
      max_active_api_keys: plan.maxApiKeys,
      daily_tokens: plan.dailyTokens ?? null,
      monthly_tokens: plan.monthlyTokens ?? null,
    },
    usage: usageRecord(dependencies, facts, plan, nowMs),
    model_limits: modelLimits(operator),
    api_keys: {
      active: keys.filter((key) => key.status === 'active').length,
      limit: plan.maxApiKeys,
    },
  };
}

function usageRecord(dependencies: ListDependencies, facts: KeyFacts, plan: Plan, nowMs: number) {
  const used = dependencies.limits.usage(facts.accountId, plan);
  const remaining = (limit: number | undefined, taken: number): number | null =>
    limit === undefined ? null : Math.max(0, limit - taken);
  return {
    requests_this_minute: {
      used: used.requestsUsed,
      remaining: remaining(plan.requestsPerMinute, used.requestsUsed),
      resets_in_s: used.resetSeconds,
    },
    tokens_this_minute: {
      used: used.tokensUsed,
      remaining: remaining(plan.tokensPerMinute, used.tokensUsed),
      resets_in_s: used.resetSeconds,
    },
    in_flight: used.inFlight,
    today: {
      tokens: used.dayTokens,
      remaining: remaining(plan.dailyTokens, used.dayTokens),
      resets_at: isoTime(nextUtcDay(nowMs)),
    },
    month: {
      tokens: used.monthTokens,
      remaining: remaining(plan.monthlyTokens, used.monthTokens),
      resets_at: isoTime(nextUtcMonth(nowMs)),
    },
  };
}

function modelLimits({ catalog, incidentOf }: OperatorState) {
  return catalog.models.flatMap((model) => {
    const incident = lowerIncident(model.incidentLimits, incidentOf(model.slug));
    if (incident === undefined) return [];
    return [
      {
        model: model.slug,
        requests_per_minute: incident.requestsPerMinute ?? null,
        tokens_per_minute: incident.tokensPerMinute ?? null,
        concurrent_requests: incident.concurrentRequests ?? null,
        reason: 'capacity',
        until: null,
      },
    ];
  });
}
