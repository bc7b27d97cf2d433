// An account as its owner sees it: plan, balance, limits and their present use. The answer of
// /v1/account, which any key of the account may read, and the head of the dashboard; so it contains
// neither the e-mail address nor a name.

import { requirePlan } from '../core/admit.ts';
import { isoTime, nextUtcDay, nextUtcMonth } from '../core/calendar.ts';
import { incidentOn, type Plan } from '../core/plan.ts';
import type { ServiceState } from '../core/service-state.ts';
import type { KeyFacts } from '../identity/authenticate.ts';
import { balanceRecord } from '../ledger/balance-record.ts';
import type { Books } from '../ledger/books.ts';
import type { AccountLimits } from '../limits/contract.ts';

type AccountViewDependencies = {
  readonly limits: Pick<AccountLimits, 'usage'>;
  readonly books: Pick<Books, 'balance'>;
  /** Unix milliseconds. */
  readonly clock: () => number;
};

type AccountFacts = Omit<KeyFacts, 'keyId'>;

/** Throws the same refusal as a request where the catalog lacks the account's plan. */
export async function accountView(
  dependencies: AccountViewDependencies,
  facts: AccountFacts,
  activeKeys: number,
  state: ServiceState,
) {
  const { catalog } = state;
  const plan = requirePlan(catalog, facts.plan);
  return {
    id: facts.accountId,
    object: 'account',
    email_verified: facts.emailVerified,
    standing: facts.standing,
    plan: { slug: plan.slug, name: plan.name, since: isoTime(facts.planSince) },
    balance: balanceRecord(
      await dependencies.books.balance(facts.accountId),
      catalog.usdPerMillion,
    ),
    limits: {
      requests_per_minute: plan.requestsPerMinute,
      tokens_per_minute: plan.tokensPerMinute,
      concurrent_requests: plan.concurrentRequests,
      max_context_tokens: plan.maxContext,
      max_active_api_keys: plan.maxApiKeys,
      daily_tokens: plan.dailyTokens ?? null,
      monthly_tokens: plan.monthlyTokens ?? null,
    },
    usage: await limitUsage(dependencies, facts.accountId, plan),
    model_limits: modelLimits(state),
    api_keys: { active: activeKeys, limit: plan.maxApiKeys },
  } as const;
}

/** The present use of the limits. */
export async function limitUsage(
  { limits, clock }: Pick<AccountViewDependencies, 'limits' | 'clock'>,
  accountId: string,
  plan: Plan,
) {
  const nowMs = clock();
  const used = await limits.usage(accountId, plan);
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
  } as const;
}

function modelLimits({ catalog, incidentOf }: ServiceState) {
  return catalog.models.flatMap((model) => {
    const incident = incidentOn(model, incidentOf);
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
