// The customer's own account: what /v1/account shows its keys, and the e-mail address. Called by the
// routes of this folder that need it; only ever about the account that is signed in.

import { isoTime } from '../../core/calendar.ts';
import type { OperatorState } from '../../core/operator.ts';
import { type Plan, planIncludes } from '../../core/plan.ts';
import type { Account } from '../../identity/accounts.ts';
import type { SignedInCustomer } from '../../identity/signed-in.ts';
import { accountView } from '../../operations/account-view.ts';
import type { DashboardDependencies } from '../dependencies.ts';
import { DashboardError } from '../edge/error.ts';
import { type Route, type RouteStanding, sessionRoute } from '../edge/route.ts';
import type { OwnAccountRecord } from '../records/account.ts';
import type { ConnectionRecord } from '../records/key.ts';

/** What the routes of an account's owner need of the server. */
export type OwnDependencies = Pick<
  DashboardDependencies,
  'store' | 'limits' | 'operator' | 'baseUrl' | 'mailMode' | 'draining' | 'clock'
>;

/** Whoever is suspended, or about to be deleted, may still see what is his and stop his keys. */
export const WHILE_INACTIVE: readonly RouteStanding[] = ['suspended', 'pending_deletion'];

export function accountRoutes(dependencies: OwnDependencies): readonly Route<SignedInCustomer>[] {
  return [
    sessionRoute({
      method: 'GET',
      path: '/account',
      standings: WHILE_INACTIVE,
      handle: async ({ who }) =>
        ownAccount(dependencies, await dependencies.store.accounts.get(who.accountId)),
    }),
  ];
}

export async function ownAccount(
  { store, limits, operator, clock }: OwnDependencies,
  account: Account,
): Promise<OwnAccountRecord> {
  const state = operator();
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

/** What a client needs beside a key: the address, and a model that the plan has, for examples. */
export function connectionOf(
  { operator, baseUrl }: OwnDependencies,
  account: Account,
): ConnectionRecord {
  const state = operator();
  const plan = planOf(state, account);
  const model = state.catalog.models.find(({ slug }) => planIncludes(plan, slug));
  return { base_url: baseUrl(), model: model?.slug ?? null };
}

/** Throws `unavailable` where the catalog no longer has the plan. */
export function planOf({ catalog }: OperatorState, { plan: slug }: Pick<Account, 'plan'>): Plan {
  const plan = catalog.plans.get(slug);
  if (plan !== undefined) return plan;
  throw new DashboardError(
    'unavailable',
    'The plan of this account is not set up at the moment, so its limits cannot be told. Nothing is lost. Ask the operator to change the plan.',
  );
}
