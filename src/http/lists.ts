// GET /v1/models, /v1/models/{slug or alias}, /v1/api-keys and /v1/account: what a key may know
// about its own account. Neither billed nor counted.

import { type ModelPage, modelList, modelRecord } from '../catalog/model-record.ts';
import { requireModel } from '../core/admit.ts';
import { invalidRequest } from '../core/error.ts';
import type { OperatorState } from '../core/operator.ts';
import type { KeyFacts } from '../identity/authenticate.ts';
import type { Books } from '../ledger/books.ts';
import type { AccountLimits } from '../limits/contract.ts';
import { accountView } from '../operations/account-view.ts';

export type ListDependencies = {
  readonly limits: AccountLimits;
  readonly books: Books;
  readonly clock: () => number;
  /** Records of the account's keys, newest first. */
  readonly keyRecords: (facts: KeyFacts) => Promise<readonly { readonly status: string }[]>;
};

const MODELS_MAX = 1_000;

export function listModels(
  { clock }: ListDependencies,
  facts: KeyFacts,
  { catalog, incidentOf }: OperatorState,
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
    !(/^\d{1,4}$/.test(limit) && isBetween(Number(limit), 1, MODELS_MAX))
  ) {
    throw invalidRequest('limit', `must be a whole number from 1 to ${MODELS_MAX}`);
  }
  if (afterId !== undefined && beforeId !== undefined) {
    throw invalidRequest('before_id', 'cannot be combined with after_id');
  }
  return {
    ...(limit === undefined ? {} : { limit: Number(limit) }),
    ...(afterId === undefined ? {} : { afterId }),
    ...(beforeId === undefined ? {} : { beforeId }),
  };
}

function isBetween(value: number, least: number, most: number): boolean {
  return value >= least && value <= most;
}

export function showModel(
  { clock }: ListDependencies,
  facts: KeyFacts,
  { catalog, incidentOf }: OperatorState,
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
  { catalog }: OperatorState,
): Promise<unknown> {
  const data = await dependencies.keyRecords(facts);
  const plan = catalog.plans.get(facts.plan);
  return {
    object: 'list',
    data,
    has_more: false,
    active_count: data.filter((key) => key.status === 'active').length,
    active_limit: plan?.maxApiKeys ?? 0,
  };
}

export async function showAccount(
  dependencies: ListDependencies,
  facts: KeyFacts,
  operator: OperatorState,
): Promise<unknown> {
  const keys = await dependencies.keyRecords(facts);
  const active = keys.filter((key) => key.status === 'active').length;
  return accountView(dependencies, facts, active, operator);
}
