// What a client needs beside a key: the address, and a model that the plan has, for examples.

import { planIncludes } from '../../core/plan.ts';
import type { Account } from '../../identity/accounts.ts';
import type { ConnectionRecord } from '../records/key.ts';
import { type OwnDependencies, planOf } from './account.ts';

export function connectionOf(
  { operator, baseUrl }: OwnDependencies,
  account: Account,
): ConnectionRecord {
  const state = operator();
  const plan = planOf(state, account);
  const model = state.catalog.models.find(({ slug }) => planIncludes(plan, slug));
  return { base_url: baseUrl(), model: model?.slug ?? null };
}
