// Computes a node's share of an account's limits while Redis is unavailable, so that all live nodes
// together stay within the limit. Pure.

import type { IncidentLimits, Plan } from '../../core/plan.ts';

/** Effectively unlimited. In cluster mode, the node's own limits count but refuse nothing. */
const PLENTY = 1_000_000_000;

/** Limit ÷ nodes, at least 1. */
function shareOf(limit: number, nodes: number): number {
  return Math.max(1, Math.floor(limit / Math.max(1, nodes)));
}

/** Without the caps, which count the use of all nodes: `capNodes` of a claim shares what is left. */
export function planShare(plan: Plan, nodes: number): Plan {
  return {
    ...plan,
    requestsPerMinute: shareOf(plan.requestsPerMinute, nodes),
    tokensPerMinute: shareOf(plan.tokensPerMinute, nodes),
    concurrentRequests: shareOf(plan.concurrentRequests, nodes),
  };
}

export function incidentShare(
  incident: IncidentLimits | undefined,
  nodes: number,
): IncidentLimits | undefined {
  if (incident === undefined) return undefined;
  const entries = Object.entries(incident).map(([name, limit]) => [name, shareOf(limit, nodes)]);
  return Object.fromEntries(entries);
}

/** A plan that counts everything and refuses nothing. */
export function countingPlan({ dailyTokens, monthlyTokens, ...plan }: Plan): Plan {
  return {
    ...plan,
    requestsPerMinute: PLENTY,
    tokensPerMinute: PLENTY,
    concurrentRequests: PLENTY,
  };
}
