// A node's share of the limits if several nodes serve one database without Redis: each decides by
// itself, and together they stay within the limit. A cap of a day or month is exceeded, by less than
// itself, where a node that forgot an idle account counts again beside others. A single node has all.

import { type Awaitable, andThen } from '../../async/awaitable.ts';
import {
  effectiveLimits,
  type IncidentLimits,
  type LimitView,
  type Plan,
} from '../../core/plan.ts';
import type { AccountLeft, AccountLimits, ClaimRequest, ClaimResult } from '../contract.ts';
import { incidentShare, planShare } from './share.ts';

export function createShareLimits(local: AccountLimits, liveNodes: () => number): AccountLimits {
  const shareOf = (plan: Plan): Plan => (liveNodes() > 1 ? planShare(plan, liveNodes()) : plan);
  return {
    ...local,
    left: (accountId, plan) => leftOfShare(local, accountId, plan, liveNodes()),
    countRefused: (accountId, plan) => local.countRefused(accountId, shareOf(plan)),
    claim: (request) =>
      liveNodes() > 1 ? claimShare(local, request, liveNodes()) : local.claim(request),
    claimCount: (accountId, plan) => local.claimCount(accountId, shareOf(plan)),
  };
}

export function leftOfShare(
  local: AccountLimits,
  accountId: string,
  plan: Plan,
  nodes: number,
): Awaitable<AccountLeft> {
  if (nodes <= 1) return local.left(accountId, plan);
  return andThen(local.left(accountId, planShare(plan, nodes)), (view) =>
    fullLimits(view, plan, undefined),
  );
}

/** Decides by the share. The reported limits are the full ones, with what is left of the share. */
export async function claimShare(
  local: AccountLimits,
  request: ClaimRequest,
  nodes: number,
): Promise<ClaimResult> {
  const { plan, incident } = request;
  const result = await local.claim({
    ...request,
    plan: planShare(plan, nodes),
    incident: incidentShare(incident, nodes),
    capNodes: nodes,
  });
  if (result.kind === 'refused')
    return { ...result, view: fullLimits(result.view, plan, incident) };
  const { claim } = result;
  return {
    kind: 'claimed',
    claim: {
      view: fullLimits(claim.view, plan, incident),
      outputBound: claim.outputBound,
      freeSlot: () => claim.freeSlot(),
      settle: (usedTokens) => claim.settle(usedTokens),
      cancel: async (keeps) => fullLimits(await claim.cancel(keeps), plan, incident),
    },
  };
}

function fullLimits<View extends LimitView>(
  view: View,
  plan: Plan,
  incident: IncidentLimits | undefined,
): View {
  const { requestsPerMinute, tokensPerMinute } = effectiveLimits(plan, incident);
  return { ...view, limitRequests: requestsPerMinute, limitTokens: tokensPerMinute };
}
