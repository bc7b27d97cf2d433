// What one holder has of an account's counters: what it was given by Redis, what it has used of that,
// and what others have. Arithmetic alone; exchange.ts talks to Redis, leased.ts decides.

import { WINDOW_MS } from '../../core/window.ts';
import type { ClaimRequest } from '../contract.ts';
import { type Pair, UNLIMITED } from './script.ts';

/**
 * Permits that are not used within that time of the call that gave them are not used at all: they
 * have gone back, or nobody knows where they are.
 */
export const LAPSE_MS = 1_000;

/** For so long it is believed what others have, where that refuses a request. */
const BELIEVED_MS = 100;

/** Redis tells its time in whole milliseconds. */
const CLOCK_STEP_MS = 1;

/** A window of 60 seconds. It is replaced when it has run out, or was begun anew from the books. */
export type WindowCounter = {
  readonly name: string;
  /** When it began by the clock of Redis; 0 before Redis was told of it. */
  start: number;
  /** The same by our own clock, at the earliest: so it is never used after its end. */
  startedAtMs: number | undefined;
  /** When it ends by our own clock, at the latest: until then Redis has to hear of it. */
  endsAtMs: number | undefined;
  /** When something was taken last. */
  takenAtMs: number | undefined;
  count: number;
  tokens: number;
  given: Pair;
  others: Pair;
  /** Of the others', what may be unused. */
  spare: Pair;
  /** The limits under which it was given. */
  limit: Pair;
};

/** Slots in use are those of the claims. */
type SlotCounter = {
  readonly name: string;
  given: number;
  others: number;
  /** Of the others', those that may be unused. */
  spare: number;
  limit: number;
  /** Whether one that is not used any more may wait for the next request. */
  mayKeep: boolean;
};

/** Tokens of a day or a month. */
export type PeriodCounter = {
  readonly name: string;
  /** From where on it counts; undefined before Redis was asked. */
  mark: number | undefined;
  /** What the books had at the mark. */
  before: number | undefined;
  used: number;
  given: number;
  others: number;
  /** Of the others', those that may be unused. */
  spare: number;
  /** Of the others', what their requests in flight have reserved, and what they may not use. */
  reserved: number;
  limit: number;
};

/** A claim that has not ended. Its slot is a lease: it is held for as long as its request lives. */
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
  /** When the call was sent that all of this is known by, on our own clock. */
  knownAtMs: number;
  /** Rises when something is used or given back that Redis has to hear of. */
  changes: number;
  /** `changes` as Redis knows them. */
  told: number;
  /** Taken since the last call: the next one asks for more of the same. */
  taken: { count: number; tokens: number };
};

/** What a request takes, and the limits that hold for it; `UNLIMITED` where there is none. */
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
    told: 0,
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

/** What the requests in flight of this holder have reserved of a period. */
export function reservedOf({ claims }: Counters, name: string): number {
  let reserved = 0;
  for (const { periods, tokens } of claims) {
    if (periods.some((period) => period.name === name)) reserved += tokens;
  }
  return reserved;
}

/** Slots in use by this holder: `all`, or those of one model. */
export function slotsUsed({ claims }: Counters, name: string): number {
  let used = 0;
  for (const { hasSlot, model } of claims) {
    if (hasSlot && (name === 'all' || name === modelName(model))) used += 1;
  }
  return used;
}

/** What the windows and slots of a model are called. */
export function modelName(slug: string): string {
  return `model:${slug}`;
}

/**
 * Lets go of windows that have run out. Who let go of one early would say that it has used nothing,
 * of a window that Redis still counts.
 */
export function rollWindows({ windows }: Counters, nowMs: number): void {
  for (const [name, { endsAtMs }] of windows) {
    if (endsAtMs !== undefined && nowMs >= endsAtMs) windows.delete(name);
  }
}

/** A window that may have run out, as far as its holder can tell, is not used any more. */
function mayBeOver({ startedAtMs }: WindowCounter, nowMs: number): boolean {
  return startedAtMs !== undefined && nowMs - startedAtMs >= WINDOW_MS - CLOCK_STEP_MS;
}

/**
 * Whether Redis has said so lately what others have of windows and caps that a request which these
 * refuse need not ask again. What this holder has itself is known at all times.
 */
export function isBelieved({ knownAtMs }: Counters, nowMs: number): boolean {
  return nowMs - knownAtMs < BELIEVED_MS;
}

/** Whether what this holder was given covers a need, under the same limits. */
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

/** Takes it, whether it was given or not: without Redis, others decide. */
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

/** Gives back to the windows that are still the ones that it was taken from. */
export function giveBack(
  counters: Counters,
  taken: readonly WindowCounter[],
  [count, tokens]: Pair,
): void {
  for (const window of taken) {
    if (counters.windows.get(window.name) !== window) continue;
    window.count -= count;
    window.tokens -= tokens;
    // A window that nothing is left in has not started: what was given of it is worth nothing.
    if (window.count + window.others[0] > 0) continue;
    window.start = 0;
    window.startedAtMs = undefined;
    window.endsAtMs = undefined;
    window.given = [0, 0];
  }
  counters.changes += 1;
}

/** Whether something was given that is not used. */
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
