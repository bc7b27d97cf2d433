// The models for a customer: current and next prices, effective limits, and membership in the plan.

import { modelRecord } from '../../catalog/model-record.ts';
import { effectiveLimits, lowerIncident, planIncludes } from '../../core/plan.ts';
import type { List } from '../edge/page.ts';
import type { CustomerRoutes } from '../edge/route.ts';
import { modelNames } from '../model-names.ts';
import type { CustomerModelRecord, ModelListRecord, ModelNameRecord } from '../records/model.ts';
import { type OwnDependencies, planOf, readRoute } from './account.ts';

export function modelRoutes(dependencies: OwnDependencies): CustomerRoutes {
  return [
    readRoute({
      path: '/models',
      handle: ({ who }) => listModels(dependencies, who.accountId),
    }),
    readRoute({
      path: '/model-names',
      async handle({ who: { accountId } }): Promise<List<ModelNameRecord>> {
        const state = dependencies.operator();
        const plan = planOf(state, await dependencies.store.accounts.get(accountId));
        return modelNames(state.catalog.models.filter(({ slug }) => planIncludes(plan, slug)));
      },
    }),
  ];
}

async function listModels(
  { store, operator, clock }: OwnDependencies,
  accountId: string,
): Promise<ModelListRecord> {
  const state = operator();
  const { catalog, incidentOf } = state;
  const plan = planOf(state, await store.accounts.get(accountId));
  const nowMs = clock();
  const data = catalog.models.map((model): CustomerModelRecord => {
    const incident = incidentOf(model.slug);
    const limits = effectiveLimits(plan, lowerIncident(model.incidentLimits, incident));
    return {
      ...modelRecord(model, catalog, { plan }, incident, nowMs),
      effective_limits: {
        requests_per_minute: limits.requestsPerMinute,
        tokens_per_minute: limits.tokensPerMinute,
        concurrent_requests: limits.concurrentRequests,
      },
    };
  });
  const name = ({ slug, name }: { readonly slug: string; readonly name: string }) => ({
    slug,
    name,
  });
  return { object: 'list', data, plan: name(plan), plans: [...catalog.plans.values()].map(name) };
}
