// One scenario: the demand of some virtual minutes, sent to the limits of one process or of nodes
// with a shared Redis. Returns the admissions; makes no decisions.

import type { Awaitable } from '../../../src/async/awaitable.ts';
import { tokenCount } from '../../../src/core/money.ts';
import type { Plan } from '../../../src/core/plan.ts';
import type { Claim, ClaimRequest, ClaimResult } from '../../../src/limits/contract.ts';
import type { World } from '../world.ts';
import type { Admission } from './book.ts';
import type { Arrival } from './demand.ts';

export const ACCOUNT = 'acct_simulated';
export const MODEL = 'simulated';

/** What a node is asked; one that has to ask Redis answers later. */
export type NodeLimits = { readonly claim: (request: ClaimRequest) => Awaitable<ClaimResult> };

export type Played = {
  readonly admissions: readonly Admission[];
  /** Those that have ended and were settled, in that order. */
  readonly settled: readonly Admission[];
  readonly refused: number;
  /** Milliseconds until each claim was decided; most of them are zero. */
  readonly decidedMs: readonly number[];
};

export type Play = {
  /** Ends when the virtual minutes are over. */
  readonly played: () => Played;
  /** What runs on a node ends at once, and is never settled. */
  readonly kill: (node: NodeLimits) => void;
};

/** An answer that takes longer than this went round Redis, not just through a turn of the loop. */
export const WAITED_MS = 0.001;

/** Schedules every arrival. `nodeOf` is asked at the time of each where it is sent. */
export function play(
  world: World,
  demand: readonly Arrival[],
  plan: Plan,
  nodeOf: (arrival: Arrival) => NodeLimits,
): Play {
  const admissions: Admission[] = [];
  const ended: Admission[] = [];
  const decidedMs: number[] = [];
  const running = new Map<Admission, { readonly node: NodeLimits; readonly claim: Claim }>();
  const dead = new Set<NodeLimits>();
  const startsMs = world.monotonic();
  let refused = 0;

  async function ask(asked: Arrival): Promise<void> {
    const node = nodeOf(asked);
    const askedMs = world.monotonic();
    const result = await node.claim(requestOf(asked, world.wall(), plan));
    if (dead.has(node)) return;
    const atMs = world.monotonic();
    decidedMs.push(atMs - askedMs);
    if (result.kind === 'refused') {
      refused += 1;
      return;
    }
    const waitedMs = atMs - askedMs;
    const arrival = bounded(asked, result.claim.outputBound);
    const admission: Admission = { arrival, atMs, waitedMs, endedMs: undefined, settled: false };
    admissions.push(admission);
    running.set(admission, { node, claim: result.claim });
    world.after(arrival.lastsMs, () => {
      if (!running.delete(admission)) return;
      admission.endedMs = world.monotonic();
      admission.settled = true;
      ended.push(admission);
      result.claim.settle(arrival.usedTokens);
    });
  }

  for (const arrival of demand) {
    world.after(startsMs + arrival.atMs - world.monotonic(), () => void ask(arrival));
  }
  return {
    played: () => ({ admissions, settled: ended, refused, decidedMs }),
    kill(node) {
      dead.add(node);
      for (const [admission, run] of [...running]) {
        if (run.node !== node) continue;
        running.delete(admission);
        admission.endedMs = world.monotonic();
      }
    },
  };
}

/** Its upstream keeps to the bound that the caps have left. */
function bounded(arrival: Arrival, outputBound: number): Arrival {
  const usedTokens = Math.min(arrival.usedTokens, arrival.promptTokens + outputBound);
  return { ...arrival, outputBound, usedTokens };
}

function requestOf(arrival: Arrival, startedAt: number, plan: Plan): ClaimRequest {
  return {
    requestId: arrival.id,
    startedAt,
    accountId: ACCOUNT,
    model: MODEL,
    plan,
    incident: undefined,
    promptTokens: tokenCount(arrival.promptTokens),
    outputBound: tokenCount(arrival.outputBound),
  };
}
