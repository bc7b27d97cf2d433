// A node's share of the limits if several nodes serve one database without Redis: each decides by
// itself, and together they stay within the limit. A cap of a day or month is exceeded, by less than
// itself, where a node that forgot an idle account counts again beside others. A single node has all.

import { andThen } from '../../async/awaitable.ts';
import type { Plan } from '../../core/plan.ts';
import type { AccountLimits } from '../contract.ts';
import { planShare } from '../scope.ts';

export function createShareLimits(local: AccountLimits, liveNodes: () => number): AccountLimits {
  const shareOf = (plan: Plan): Plan => (liveNodes() > 1 ? planShare(plan, liveNodes()) : plan);
  return {
    ...local,
    left(accountId, plan) {
      if (liveNodes() <= 1) return local.left(accountId, plan);
      return andThen(local.left(accountId, shareOf(plan)), (left) => ({
        ...left,
        limitRequests: plan.requestsPerMinute,
        limitTokens: plan.tokensPerMinute,
      }));
    },
    countRefused: (accountId, plan) => local.countRefused(accountId, shareOf(plan)),
    claim: (request) => local.claim(liveNodes() > 1 ? { ...request, nodes: liveNodes() } : request),
    claimCount: (accountId, plan) => local.claimCount(accountId, shareOf(plan)),
  };
}
