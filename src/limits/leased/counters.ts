// One holder's counters of an account: what Redis granted, what was used of it, and what other
// holders have. Arithmetic only; exchange.ts talks to Redis and leased.ts decides.

import { WINDOW_MS } from '../../core/window.ts';
import type { ClaimRequest } from '../contract.ts';
import { type Pair, UNLIMITED } from './script.ts';

/**
 * Permits not used within this time of the call that granted them expire: they were returned, or
 * their state is unknown.
 */
export const LAPSE_MS = 1_000;

/** How long a known usage of other holders may refuse a request without asking Redis again. */
const BELIEVED_MS = 100;

/** The resolution of Redis's clock. */
const CLOCK_STEP_MS = 1;

/** A window of 60 seconds. It is replaced when it expires or was rebuilt from the ledger. */
export type WindowCounter = {
  readonly name: string;
  /** Its start by Redis's clock; 0 before it was reported to Redis. */
  start: number;
  /** The earliest possible start by our own clock, so it is never used after its end. */
  startedAtMs: number | undefined;
  /** The latest possible end by our own clock. Until then changes must be reported to Redis. */
  endsAtMs: number | undefined;
  /** The last time something was taken. */
  takenAtMs: number | undefined;
  count: number;
  tokens: number;
  given: Pair;
  others: Pair;
  /** The part of other holders' permits that may be unused. */
  spare: Pair;
  /** The limits that applied when it was granted. */
  limit: Pair;
};

/** The slots in use are those of the claims. */
type SlotCounter = {
  readonly name: string;
  given: number;
  others: number;
  /** The part of other holders' slots that may be unused. */
  spare: number;
  limit: number;
  /** Whether an unused slot may be kept for the next request. */
  mayKeep: boolean;
};

/** Tokens of a day or a month. */
export type PeriodCounter = {
  readonly name: string;
  /** The ledger mark from which it counts; undefined before Redis was asked. */
  mark: number | undefined;
  /** The ledger's usage at the mark. */
  before: number | undefined;
  used: number;
  given: number;
  others: number;
  /** The part of other holders' tokens that may be unused. */
  spare: number;
  /** Of other holders: tokens reserved by their requests in flight, plus unused ones. */
  reserved: number;
  limit: number;
};

/** An open claim. Its slot is leased for as long as its request lives. */
export type LeasedClaim = Pick<ClaimRequest, 'requestId' | 'startedAt' | 'model'> & {
  hasSlot: boolean;
  leaseUntil: number;
  readonly tokens: number;
  readonly periods: readonly PeriodCounter[];
};

export type Counters = {
  readonly accountId: string;
  epoch: string;
  readonly windows: Map<string, WindowCounter>;
  readonly slots: Map<string, SlotCounter>;
  readonly periods: Map<string, PeriodCounter>;
  readonly claims: Set<LeasedClaim>;
  /** When the call that returned this state was sent, on our own clock. */
  knownAtMs: number;
  /** Incremented when usage changes in a way that Redis has to know. */
  changes: number;
  /** The value of `changes` last reported to Redis. */
  reported: number;
  /** Taken since the last call, which determines how much the next one requests. */
  taken: { count: number; tokens: number };
};

/** What a request takes and the limits that apply to it; `UNLIMITED` if there is none. */
export type Need = {
  readonly take: Pair;
  readonly windows: readonly { readonly name: string; readonly limit: Pair }[];
  readonly slots: readonly { readonly name: string; readonly limit: number }[];
  readonly periods: readonly { readonly name: string; readonly limit: number }[];
};

export function createCounters(accountId: string): Counters {
  return {
    accountId,
    epoch: '',
    windows: new Map(),
    slots: new Map(),
    periods: new Map(),
    claims: new Set(),
    knownAtMs: -Infinity,
    changes: 0,
    reported: 0,
    taken: { count: 0, tokens: 0 },
  };
}

export function windowOf({ windows }: Counters, name: string): WindowCounter {
  return (
    windows.get(name) ?? {
      name,
      start: 0,
      startedAtMs: undefined,
      endsAtMs: undefined,
      takenAtMs: undefined,
      count: 0,
      tokens: 0,
      given: [0, 0],
      others: [0, 0],
      spare: [0, 0],
      limit: [0, 0],
    }
  );
}

export function slotsOf({ slots }: Counters, name: string): SlotCounter {
  return slots.get(name) ?? { name, given: 0, others: 0, spare: 0, limit: 0, mayKeep: true };
}

export function periodOf({ periods }: Counters, name: string): PeriodCounter {
  return (
    periods.get(name) ?? {
      name,
      mark: undefined,
      before: undefined,
      used: 0,
      given: 0,
      others: 0,
      spare: 0,
      reserved: 0,
      limit: 0,
    }
  );
}

/** Tokens of a period reserved by this holder's requests in flight. */
export function reservedOf({ claims }: Counters, name: string): number {
  let reserved = 0;
  for (const { periods, tokens } of claims) {
    if (periods.some((period) => period.name === name)) reserved += tokens;
  }
  return reserved;
}

/** Slots in use by this holder: all of them, or those of one model. */
export function slotsUsed({ claims }: Counters, name: string): number {
  let used = 0;
  for (const { hasSlot, model } of claims) {
    if (hasSlot && (name === 'all' || name === modelName(model))) used += 1;
  }
  return used;
}

/** The name of a model's windows and slots. */
export function modelName(slug: string): string {
  return `model:${slug}`;
}

/**
 * Drops expired windows. Dropping one too early would report zero usage for a window that Redis
 * still counts.
 */
export function rollWindows({ windows }: Counters, nowMs: number): void {
  for (const [name, { endsAtMs }] of windows) {
    if (endsAtMs !== undefined && nowMs >= endsAtMs) windows.delete(name);
  }
}

/** A window that may have expired, given the uncertainty of its start, is not used any more. */
function mayBeOver({ startedAtMs }: WindowCounter, nowMs: number): boolean {
  return startedAtMs !== undefined && nowMs - startedAtMs >= WINDOW_MS - CLOCK_STEP_MS;
}

/**
 * Whether the known usage of other holders is recent enough to refuse a request on windows and caps
 * without asking Redis again. This holder's own usage is always exact.
 */
export function isBelieved({ knownAtMs }: Counters, nowMs: number): boolean {
  return nowMs - knownAtMs < BELIEVED_MS;
}

/** Whether the granted permits cover a need under the same limits. */
export function covers(counters: Counters, { take, windows, slots, periods }: Need, nowMs: number) {
  const isFresh = nowMs - counters.knownAtMs < LAPSE_MS;
  return (
    windows.every(({ name, limit }) => {
      if (limit[0] === UNLIMITED && limit[1] === UNLIMITED) return true;
      const window = windowOf(counters, name);
      const { count, tokens, given, limit: under } = window;
      return (
        isFresh &&
        !mayBeOver(window, nowMs) &&
        under[0] === limit[0] &&
        under[1] === limit[1] &&
        (limit[0] === UNLIMITED || given[0] - count >= take[0]) &&
        (limit[1] === UNLIMITED || given[1] - tokens >= take[1])
      );
    }) &&
    slots.every(({ name, limit }) => {
      if (limit === UNLIMITED) return true;
      const { given, limit: under } = slotsOf(counters, name);
      return isFresh && under === limit && given - slotsUsed(counters, name) >= 1;
    }) &&
    periods.every(({ name, limit }) => {
      const { mark, given, used, limit: under } = periodOf(counters, name);
      if (mark === undefined) return false;
      return limit === UNLIMITED || (isFresh && under === limit && given - used >= take[1]);
    })
  );
}

/** Takes the need, granted or not: without Redis, the node's own limits decide. */
export function take(counters: Counters, need: Need, nowMs: number) {
  const { windows, slots, periods } = need;
  const [count, tokens] = need.take;
  for (const { name } of slots) counters.slots.set(name, slotsOf(counters, name));
  const taken = windows.map(({ name }) => {
    const window = windowOf(counters, name);
    counters.windows.set(name, window);
    window.startedAtMs ??= nowMs;
    window.endsAtMs ??= nowMs + WINDOW_MS;
    window.takenAtMs = nowMs;
    window.count += count;
    window.tokens += tokens;
    return window;
  });
  const charged = periods.map(({ name }) => {
    const period = periodOf(counters, name);
    counters.periods.set(name, period);
    period.used += tokens;
    return period;
  });
  counters.taken.count += count;
  counters.taken.tokens += tokens;
  counters.changes += 1;
  return { windows: taken, periods: charged };
}

/** Returns permits to the windows that still are those they were taken from. */
export function giveBack(
  counters: Counters,
  taken: readonly WindowCounter[],
  [count, tokens]: Pair,
): void {
  for (const window of taken) {
    if (counters.windows.get(window.name) !== window) continue;
    window.count -= count;
    window.tokens -= tokens;
    // An empty window has not started, so its permits are worthless.
    if (window.count + window.others[0] > 0) continue;
    window.start = 0;
    window.startedAtMs = undefined;
    window.endsAtMs = undefined;
    window.given = [0, 0];
  }
  counters.changes += 1;
}

/** Whether granted permits are unused. */
export function hasUnused(counters: Counters): boolean {
  const { windows, slots, periods } = counters;
  return (
    [...windows.values()].some(
      ({ given, count, tokens }) => given[0] > count || given[1] > tokens,
    ) ||
    [...slots.values()].some(({ name, given }) => given > slotsUsed(counters, name)) ||
    [...periods.values()].some(({ given, used, limit }) => limit !== UNLIMITED && given > used)
  );
}
