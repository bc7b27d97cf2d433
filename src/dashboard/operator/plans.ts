// The plans of the catalog in the console, with the accounts on each.

import { entriesOf } from '../../catalog/entries.ts';
import { plainDocument } from '../../catalog/toml-edit.ts';
import { BUILT_IN_PLANS, type Plan } from '../../core/plan.ts';
import { accountsByPlan } from '../../identity/accounts.ts';
import type { MachineDependencies } from '../dependencies.ts';
import { type OperatorRoutes, viewRoute } from '../edge/route.ts';
import { catalogFileRecord } from './catalog-file.ts';

export function planRoutes(dependencies: MachineDependencies): OperatorRoutes {
  const { catalog, machine, store } = dependencies;

  function plansInFile(): ReadonlySet<string> {
    try {
      return new Set(entriesOf(plainDocument(machine.findCatalog().text), 'plan').keys());
    } catch {
      return new Set();
    }
  }

  return [
    viewRoute({
      path: '/catalog/plans',
      async handle() {
        const accounts = new Map(await accountsByPlan(store.database));
        const inFile = plansInFile();
        const plans = [...catalog().plans.values()].map((plan) =>
          planRecord(plan, inFile.has(plan.slug), accounts.get(plan.slug) ?? 0),
        );
        return { plans, file: catalogFileRecord(dependencies) };
      },
    }),
  ];
}

export function planRecord(plan: Plan, inFile: boolean, accounts: number) {
  return {
    id: plan.slug,
    object: 'plan',
    name: plan.name,
    is_built_in: BUILT_IN_PLANS.some(({ slug }) => slug === plan.slug),
    /** Whether the file has an entry for it. */
    in_file: inFile,
    accounts,
    requests_per_minute: plan.requestsPerMinute,
    tokens_per_minute: plan.tokensPerMinute,
    concurrent_requests: plan.concurrentRequests,
    max_context: plan.maxContext,
    max_api_keys: plan.maxApiKeys,
    daily_tokens: plan.dailyTokens ?? null,
    monthly_tokens: plan.monthlyTokens ?? null,
    models: plan.models,
  } as const;
}
