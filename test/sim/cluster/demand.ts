// The demand on a simulated cluster: requests of one account that arrive at random, at a multiple
// of its limit, spread over the nodes evenly or not. All of it is drawn in advance, so that one
// process can get the same demand.

import type { Plan } from '../../../src/core/plan.ts';
import type { World } from '../world.ts';

/** The limit that the demand runs into; the others are out of its way. */
export type Bound = 'requests' | 'tokens' | 'slots' | 'day' | 'month';

export type Spread = 'even' | 'uneven';

export type Demand = {
  readonly bound: Bound;
  readonly spread: Spread;
  /** The offered load over what the limit allows. */
  readonly times: number;
};

export type Arrival = {
  readonly id: string;
  readonly atMs: number;
  /** The node that the load balancer sends it to. */
  readonly node: number;
  readonly promptTokens: number;
  readonly outputBound: number;
  /** What it will have used in the end; never more than what it is charged at first. */
  readonly usedTokens: number;
  readonly lastsMs: number;
};

const WIDE = 100_000_000;

/** Everything but the limit in question is out of reach. */
const PLAN: Plan = {
  slug: 'simulated',
  name: 'Simulated',
  requestsPerMinute: WIDE,
  tokensPerMinute: WIDE,
  concurrentRequests: WIDE,
  maxContext: 128_000,
  maxApiKeys: 5,
  models: ['*'],
};

const PROMPT_TOKENS = 1_000;
const OUTPUT_BOUND = 1_000;
const CHARGED_TOKENS = PROMPT_TOKENS + OUTPUT_BOUND;
const LASTS_MS = 2_000;

/** What a cap of a day or a month allows; reached after some minutes. */
const CAPPED_REQUESTS = 1_000;

/** Limits of a middling plan: `size` requests a minute, or as much of another limit. */
export function planOf(bound: Bound, size: number): Plan {
  switch (bound) {
    case 'requests':
      return { ...PLAN, requestsPerMinute: size };
    case 'tokens':
      return { ...PLAN, tokensPerMinute: size * CHARGED_TOKENS };
    case 'slots':
      return { ...PLAN, concurrentRequests: slotsOf(size) };
    case 'day':
      return { ...PLAN, dailyTokens: CAPPED_REQUESTS * CHARGED_TOKENS };
    case 'month':
      return { ...PLAN, monthlyTokens: CAPPED_REQUESTS * CHARGED_TOKENS };
  }
}

/** The limit itself, in its own unit. */
export function limitOf(plan: Plan, bound: Bound): number {
  switch (bound) {
    case 'requests':
      return plan.requestsPerMinute;
    case 'tokens':
      return plan.tokensPerMinute;
    case 'slots':
      return plan.concurrentRequests;
    case 'day':
      return plan.dailyTokens ?? Infinity;
    case 'month':
      return plan.monthlyTokens ?? Infinity;
  }
}

/** The built-in plans have a slot for each thirty requests a minute, about. */
function slotsOf(size: number): number {
  return Math.max(4, Math.round(size / 30));
}

/** Requests a second that use up the limit, and no more. */
function rateOf(bound: Bound, size: number): number {
  return bound === 'slots' ? slotsOf(size) / (LASTS_MS / 1_000) : size / 60;
}

/** Every request of so many virtual milliseconds, in the order of their arrival. */
export function arrivals(
  world: World,
  { bound, spread, times }: Demand,
  { nodes, size, forMs }: { nodes: number; size: number; forMs: number },
): Arrival[] {
  const perMs = (rateOf(bound, size) * times) / 1_000;
  const all: Arrival[] = [];
  for (let atMs = exponential(world, 1 / perMs); atMs < forMs; ) {
    // Around the mean by half: prompts and answers differ, and blocks of tokens must not fit exactly.
    const promptTokens = Math.round(PROMPT_TOKENS * (0.5 + world.random()));
    const outputBound = Math.round(OUTPUT_BOUND * (0.5 + world.random()));
    all.push({
      id: `req_${all.length}`,
      atMs,
      node: spread === 'even' ? world.between(0, nodes - 1) : unevenNode(world, nodes),
      promptTokens,
      outputBound,
      usedTokens: promptTokens + Math.round(outputBound * world.random()),
      lastsMs: 100 + exponential(world, LASTS_MS - 100),
    });
    atMs += exponential(world, 1 / perMs);
  }
  return all;
}

/** Half of all goes to one node, half of the rest to the next, as with a few sticky connections. */
function unevenNode(world: World, nodes: number): number {
  let node = 0;
  while (node < nodes - 1 && world.chance(0.5)) node += 1;
  return node;
}

export function exponential(world: World, mean: number): number {
  return -Math.log(1 - world.random()) * mean;
}
