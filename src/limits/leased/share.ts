// The share of a node in an account's limits, by which it goes on alone while Redis is away: what
// each of the nodes that live may admit, so that together they stay at the limit. Pure.

import type { IncidentLimits, Plan } from '../../core/plan.ts';

/** More than anybody asks for. In the cluster, the node's own limits count and refuse nothing. */
const PLENTY = 1_000_000_000;

/** Limit ÷ nodes, at least 1. */
function shareOf(limit: number, nodes: number): number {
  return Math.max(1, Math.floor(limit / Math.max(1, nodes)));
}

export function planShare(plan: Plan, nodes: number): Plan {
  const { dailyTokens, monthlyTokens } = plan;
  return {
    ...plan,
    requestsPerMinute: shareOf(plan.requestsPerMinute, nodes),
    tokensPerMinute: shareOf(plan.tokensPerMinute, nodes),
    concurrentRequests: shareOf(plan.concurrentRequests, nodes),
    ...(dailyTokens === undefined ? {} : { dailyTokens: shareOf(dailyTokens, nodes) }),
    ...(monthlyTokens === undefined ? {} : { monthlyTokens: shareOf(monthlyTokens, nodes) }),
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

/** The plan under which everything is counted and nothing refused. */
export function countingPlan({ dailyTokens, monthlyTokens, ...plan }: Plan): Plan {
  return {
    ...plan,
    requestsPerMinute: PLENTY,
    tokensPerMinute: PLENTY,
    concurrentRequests: PLENTY,
  };
}
