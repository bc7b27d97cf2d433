// The models for a customer: current and next prices, effective limits, and membership in the plan;
// the playground, and the table of errors.

import { modelRecord } from '../../catalog/model-record.ts';
import type { ClientFormatName } from '../../core/admit.ts';
import { ERRORS } from '../../core/error.ts';
import { effectiveLimits, lowerIncident, planIncludes } from '../../core/plan.ts';
import type { SignedInCustomer } from '../../identity/signed-in.ts';
import type { DashboardDependencies } from '../dependencies.ts';
import type { List } from '../edge/page.ts';
import { type CustomerRoutes, type Route, sessionRoute } from '../edge/route.ts';
import { modelNames } from '../model-names.ts';
import type { CustomerModelRecord, ModelListRecord, ModelNameRecord } from '../records/model.ts';
import type { ReferenceRecord } from '../records/reference.ts';
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
        const state = dependencies.serviceState();
        const plan = planOf(state, await dependencies.store.accounts.get(accountId));
        return modelNames(state.catalog.models.filter(({ slug }) => planIncludes(plan, slug)));
      },
    }),
  ];
}

async function listModels(
  { store, serviceState, clock }: OwnDependencies,
  accountId: string,
): Promise<ModelListRecord> {
  const state = serviceState();
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

/**
 * Generation as in /v1 for the signed-in user, charged to the account. The gateway handles the request;
 * these routes only authorize it.
 */
export function playgroundRoutes({
  answerPlayground,
}: Pick<DashboardDependencies, 'answerPlayground'>): CustomerRoutes {
  const generation = (path: string, format: ClientFormatName): Route<SignedInCustomer> =>
    sessionRoute({
      method: 'POST',
      path,
      // The gateway rejects them with the errors of /v1.
      standings: ['suspended', 'pending_deletion', 'blocked'],
      body: 'unread',
      async handle({ who: { accountId }, address, request, server, requestId }) {
        const call = { accountId, address, request, server, requestId };
        const response = await answerPlayground(format, call);
        response.headers.set('cache-control', 'no-store');
        return response;
      },
    });
  return [
    generation('/playground/chat/completions', 'chat'),
    generation('/playground/messages', 'messages'),
    generation('/playground/responses', 'responses'),
  ];
}

/** Codes that no request of a customer gets. */
const OPERATORS: ReadonlySet<string> = new Set(['operator_only', 'misdirected_request']);

const REFERENCE: ReferenceRecord = {
  object: 'reference',
  errors: Object.entries(ERRORS)
    .filter(([code]) => !OPERATORS.has(code))
    .map(([code, { status, retry, text }]) => ({ code, status, retry, message: text })),
};

export function referenceRoutes(): CustomerRoutes {
  return [
    readRoute({
      path: '/reference',
      handle: () => REFERENCE,
    }),
  ];
}
