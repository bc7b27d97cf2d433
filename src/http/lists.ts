// GET /v1/models, /v1/models/{slug or alias}, /v1/api-keys, /v1/account and /v1/receipts/{request
// id}: what a key may know about its own account. Not billed, and bounded per minute in a budget of
// their own.

import { type ModelPage, modelList, modelRecord } from '../catalog/model-record.ts';
import { requireModel } from '../core/admit.ts';
import { GatewayError, invalidRequest } from '../core/error.ts';
import type { ServiceState } from '../core/service-state.ts';
import { type MinuteBudgets, requireBudget } from '../generate/minute-budget.ts';
import type { KeyFacts } from '../identity/authenticate.ts';
import type { Books } from '../ledger/books.ts';
import type { AccountLimits } from '../limits/contract.ts';
import { accountView } from '../operations/account-view.ts';
import { requestBill } from '../operations/request-bill.ts';

export type ListDependencies = {
  readonly limits: AccountLimits;
  readonly books: Books;
  readonly clock: () => number;
  /** Of each account: its lists of any kind, and those of its keys, which cost the most. */
  readonly looks: MinuteBudgets;
  readonly keyLooks: MinuteBudgets;
  readonly countActiveKeys: (accountId: string) => Promise<number>;
  /** Records of all active keys and of the newest others, newest first. */
  readonly keyRecords: (facts: KeyFacts, most: number) => Promise<KeyRecords>;
};

type KeyRecords = {
  readonly records: readonly object[];
  /** Whether there are older ones. */
  readonly isCut: boolean;
};

const MODELS_MAX = 1_000;
const LOOKS_PER_MINUTE_MIN = 600;
const KEY_LISTS_PER_MINUTE = 60;
/** All active keys of ordinary plans, with some others. */
const KEYS_LISTED_MIN = 500;
const KEYS_LISTED_MAX = 5_000;

/** Throws 429 where the account has asked as often as its plan has requests a minute, and 600 times. */
export function claimLook(
  { looks }: ListDependencies,
  { accountId, plan }: KeyFacts,
  { catalog }: ServiceState,
): void {
  // A plan may be missing in the catalog for a while.
  const ofPlan = catalog.plans.get(plan)?.requestsPerMinute ?? 0;
  requireBudget(looks.claim(accountId, Math.max(ofPlan, LOOKS_PER_MINUTE_MIN), 1));
}

export function listModels(
  { clock }: ListDependencies,
  facts: KeyFacts,
  { catalog, incidentOf }: ServiceState,
  query: URLSearchParams,
): unknown {
  const plan = catalog.plans.get(facts.plan);
  const allowed = facts.bounds?.models;
  return modelList(catalog, { plan, allowed }, incidentOf, clock(), modelPage(query));
}

/** The paging of Messages clients; an empty value counts as absent. */
function modelPage(query: URLSearchParams): ModelPage {
  const limit = query.get('limit') || undefined;
  const afterId = query.get('after_id') || undefined;
  const beforeId = query.get('before_id') || undefined;
  if (
    limit !== undefined &&
    !(/^\d{1,4}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= MODELS_MAX)
  ) {
    throw invalidRequest('limit', `must be a whole number from 1 to ${MODELS_MAX}`);
  }
  return {
    ...(limit === undefined ? {} : { limit: Number(limit) }),
    ...(afterId === undefined ? {} : { afterId }),
    ...(beforeId === undefined ? {} : { beforeId }),
  };
}

export function showModel(
  { clock }: ListDependencies,
  facts: KeyFacts,
  { catalog, incidentOf }: ServiceState,
  slugOrAlias: string,
): unknown {
  const model = requireModel(catalog, slugOrAlias);
  const incident = incidentOf(model.slug);
  const caller = { plan: catalog.plans.get(facts.plan), allowed: facts.bounds?.models };
  return modelRecord(model, catalog, caller, incident, clock());
}

export async function listKeys(
  dependencies: ListDependencies,
  facts: KeyFacts,
  { catalog }: ServiceState,
): Promise<unknown> {
  requireBudget(dependencies.keyLooks.claim(facts.accountId, KEY_LISTS_PER_MINUTE, 1));
  const plan = catalog.plans.get(facts.plan);
  const most = Math.min(Math.max(plan?.maxApiKeys ?? 0, KEYS_LISTED_MIN), KEYS_LISTED_MAX);
  const { records, isCut } = await dependencies.keyRecords(facts, most);
  return {
    object: 'list',
    data: records,
    has_more: isCut,
    active_count: await dependencies.countActiveKeys(facts.accountId),
    active_limit: plan?.maxApiKeys ?? 0,
  };
}

export async function showAccount(
  dependencies: ListDependencies,
  facts: KeyFacts,
  state: ServiceState,
): Promise<unknown> {
  const active = await dependencies.countActiveKeys(facts.accountId);
  return accountView(dependencies, facts, active, state);
}

/** The same 404 for the request of another account as for an unknown one. */
export async function showBill(
  { books }: ListDependencies,
  { accountId }: KeyFacts,
  requestId: string,
): Promise<unknown> {
  const bill = await requestBill(books, accountId, requestId);
  if (bill === undefined) throw new GatewayError('not_found', { message: NO_BILL });
  return bill;
}

const NO_BILL =
  'This account has no bill of a request with this id. A rejected request has none and costs nothing; those of archived months are not served here. Check the id: it is in the x-request-id header of the answer.';
