// The customer's own account: the data of /v1/account plus the e-mail address. Only ever for the
// signed-in account.

import type { TProperties } from '@sinclair/typebox';
import { isoTime } from '../../core/calendar.ts';
import { type Plan, planIncludes } from '../../core/plan.ts';
import type { ServiceState } from '../../core/service-state.ts';
import type { Account } from '../../identity/accounts.ts';
import type { SignedInCustomer } from '../../identity/signed-in.ts';
import { accountView } from '../../operations/account-view.ts';
import type { DashboardDependencies } from '../dependencies.ts';
import { DashboardError } from '../edge/error.ts';
import {
  type CustomerRoutes,
  type Definition,
  type Empty,
  type Route,
  type RouteStanding,
  sessionRoute,
} from '../edge/route.ts';
import type { OwnAccountRecord } from '../records/account.ts';
import type { ConnectionRecord } from '../records/key.ts';

/** The dependencies of the customer routes. */
export type OwnDependencies = Omit<
  DashboardDependencies,
  'signIn' | 'inFlight' | 'answerPlayground'
>;

/** Suspended accounts and those pending deletion can still read their data and revoke keys. */
export const WHILE_INACTIVE: readonly RouteStanding[] = ['suspended', 'pending_deletion'];

/** A route that only reads, which accounts may call while they are inactive, too. */
export function readRoute<Query extends TProperties = Empty>(
  definition: Omit<Definition<SignedInCustomer, Empty, Query>, 'method' | 'standings' | 'body'>,
): Route<SignedInCustomer> {
  return sessionRoute({ ...definition, method: 'GET', standings: WHILE_INACTIVE });
}

export function accountRoutes(dependencies: OwnDependencies): CustomerRoutes {
  return [
    readRoute({
      path: '/account',
      handle: async ({ who }) =>
        ownAccount(dependencies, await dependencies.store.accounts.get(who.accountId)),
    }),
  ];
}

export async function ownAccount(
  { store, limits, serviceState, clock }: OwnDependencies,
  account: Account,
): Promise<OwnAccountRecord> {
  const state = serviceState();
  planOf(state, account);
  const { id, plan, planSince, standing, emailVerified } = account;
  const view = await accountView(
    { limits, books: store.books, clock },
    { accountId: id, plan, planSince, standing, emailVerified },
    await store.keys.countActive(id),
    state,
  );
  return { ...view, email: account.email, created_at: isoTime(account.createdAt) };
}

/** What a client needs beside a key: the base URL, and a model of the plan for examples. */
export function connectionOf(
  { serviceState, baseUrl, offersResponses }: OwnDependencies,
  account: Account,
): ConnectionRecord {
  const state = serviceState();
  const plan = planOf(state, account);
  const model = state.catalog.models.find(({ slug }) => planIncludes(plan, slug));
  return {
    base_url: baseUrl(),
    model: model?.slug ?? null,
    reasoning: model?.features.has('reasoning') ?? false,
    responses: offersResponses,
  };
}

/** Throws `unavailable` if the catalog no longer contains the plan. */
export function planOf({ catalog }: ServiceState, { plan: slug }: Pick<Account, 'plan'>): Plan {
  const plan = catalog.plans.get(slug);
  if (plan !== undefined) return plan;
  throw new DashboardError(
    'unavailable',
    'The plan of this account is missing in the catalog, so its limits are unknown. Ask the operator to change the plan.',
  );
}
