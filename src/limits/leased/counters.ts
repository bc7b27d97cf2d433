// One holder's counters of an account: what Redis granted, what was used of it, and what other
// holders have. Arithmetic only; exchange.ts talks to Redis and leased.ts decides.

import type { Span } from '../../core/calendar.ts';
import { WINDOW_MS } from '../../core/window.ts';
import { type CounterGranted, type CounterUse, type Pair, UNLIMITED } from './script.ts';

/**
 * Permits not used within this time of the call that granted them expire: they were returned, or
 * their state is unknown.
 */
export const LAPSE_MS = 1_000;

/** How long a known usage of other holders may refuse a request without asking Redis again. */
const BELIEVED_MS = 100;

/** The resolution of Redis's clock. */
const CLOCK_STEP_MS = 1;

/**
 * A window of 60 seconds, slots in use, or the tokens of a day or a month. A window is replaced
 * when it expires or was rebuilt from the ledger.
 */
export type Counter = { -readonly [Field in keyof Known]: Known[Field] } & {
  readonly name: string;
  /** The earliest possible start by our own clock, so a window is never used after its end. */
  startedAtMs: number | undefined;
  /** The latest possible end by our own clock. Until then changes must be reported to Redis. */
  endsAtMs: number | undefined;
  /** The last time something was taken. */
  takenAtMs: number | undefined;
};

type Known = CounterUse & CounterGranted;

/** An open claim. Its slot is leased for as long as its request lives. */
export type LeasedClaim = {
  readonly requestId: string;
  hasSlot: boolean;
  hasEnded: boolean;
  leaseUntil: number;
  readonly tokens: number;
  readonly counters: readonly Counter[];
};

export type Counters = {
  readonly accountId: string;
  epoch: string;
  readonly all: Map<string, Counter>;
  readonly claims: Set<LeasedClaim>;
  /** When the call that returned this state was sent, on our own clock. */
  knownAtMs: number;
  /** Few slots are left, or others wait: what becomes free is reported at once. */
  isScarce: boolean;
  /** Incremented when usage changes in a way that Redis has to know. */
  changes: number;
  /** The value of `changes` last reported to Redis. */
  reported: number;
  /** Taken since the last call, which determines how much the next one requests. */
  taken: Pair;
};

/** A limit that applies to a request; `UNLIMITED` where it has none. */
export type CounterLimit = Pick<Counter, 'name' | 'kind' | 'limit'> & {
  /** Of a day or a month. */
  readonly span?: Span;
  /** Whether the ledger's part of it is needed too. */
  readonly counts?: boolean;
};

/** What a request takes of each counter. */
export type Need = { readonly take: Pair; readonly counters: readonly CounterLimit[] };

export function createCounters(accountId: string): Counters {
  return {
    accountId,
    epoch: '',
    all: new Map(),
    claims: new Set(),
    knownAtMs: -Infinity,
    isScarce: false,
    changes: 0,
    reported: 0,
    taken: [0, 0],
  };
}

export function counterOf(
  { all }: Counters,
  { name, kind }: Pick<Counter, 'name' | 'kind'>,
): Counter {
  return (
    all.get(name) ?? {
      name,
      kind,
      from: kind === 'period' ? -1 : 0,
      reserved: 0,
      before: -1,
      startedAtMs: undefined,
      endsAtMs: undefined,
      takenAtMs: undefined,
      used: [0, 0],
      given: [0, 0],
      limit: [0, 0],
      others: [0, 0],
      spare: [0, 0],
      othersReserved: 0,
    }
  );
}

/** The name of a model's window. */
export function modelWindow(slug: string): string {
  return `model:${slug}`;
}

/** The places of a pair. */
export const PAIR = [0, 1] as const;

export function plus(pair: Pair, [count, tokens]: Pair, sign: 1 | -1 = 1): Pair {
  return [pair[0] + sign * count, pair[1] + sign * tokens];
}

/**
 * Drops expired windows. Dropping one too early would report zero usage for a window that Redis
 * still counts.
 */
export function rollWindows({ all }: Counters, nowMs: number): void {
  for (const [name, { endsAtMs }] of all) {
    if (endsAtMs !== undefined && nowMs >= endsAtMs) all.delete(name);
  }
}

/** A window that may have expired, given the uncertainty of its start, is not used any more. */
function mayBeOver({ startedAtMs }: Counter, nowMs: number): boolean {
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
export function covers(counters: Counters, { take, counters: limits }: Need, nowMs: number) {
  const isFresh = nowMs - counters.knownAtMs < LAPSE_MS;
  return limits.every(({ name, kind, limit }) => {
    const counter = counters.all.get(name);
    if (kind === 'period' && (counter === undefined || counter.from < 0)) return false;
    if (limit[0] === UNLIMITED && limit[1] === UNLIMITED) return true;
    if (counter === undefined || !isFresh || mayBeOver(counter, nowMs)) return false;
    const { used, given, limit: under } = counter;
    return PAIR.every(
      (at) =>
        under[at] === limit[at] && (limit[at] === UNLIMITED || given[at] - used[at] >= take[at]),
    );
  });
}

/** Whether a refused request would fit if other holders returned all unused permits. */
export function mayBeSpared(counters: Counters, { take, counters: limits }: Need): boolean {
  return limits.every((limited) => {
    const { used, others, spare, before } = counterOf(counters, limited);
    return PAIR.every((at) => {
      const sum =
        used[at] + others[at] - spare[at] + take[at] + (at === 1 ? Math.max(0, before) : 0);
      return limited.limit[at] === UNLIMITED || sum <= limited.limit[at];
    });
  });
}

/** Takes the need, granted or not: without Redis, the node's own limits decide. */
export function take(counters: Counters, need: Need, nowMs: number): Counter[] {
  counters.taken = plus(counters.taken, need.take);
  counters.changes += 1;
  return need.counters.map((limit) => {
    const counter = counterOf(counters, limit);
    counters.all.set(counter.name, counter);
    counter.takenAtMs = nowMs;
    counter.used = plus(counter.used, need.take);
    if (counter.kind === 'period') counter.reserved += need.take[1];
    if (counter.kind === 'window') {
      counter.startedAtMs ??= nowMs;
      counter.endsAtMs ??= nowMs + WINDOW_MS;
    }
    return counter;
  });
}

/** Returns permits to a window, if it still is the one they were taken from. */
function giveBack({ all }: Counters, window: Counter, permits: Pair): void {
  if (all.get(window.name) !== window) return;
  window.used = plus(window.used, permits, -1);
  // An empty window has not started, so its permits are worthless.
  if (window.used[0] + window.others[0] > 0) return;
  window.from = 0;
  window.startedAtMs = undefined;
  window.endsAtMs = undefined;
  window.given = [0, 0];
}

/** Returns whether the claim still had its slot. */
export function freeSlot(counters: Counters, claim: LeasedClaim): boolean {
  if (!claim.hasSlot) return false;
  claim.hasSlot = false;
  for (const counter of claim.counters) {
    if (counter.kind === 'slots') counter.used = plus(counter.used, [1, claim.tokens], -1);
  }
  counters.changes += 1;
  return true;
}

/** The request is gone. Its actual usage is unknown, so its tokens stay counted. */
export function lose(counters: Counters, claim: LeasedClaim): void {
  freeSlot(counters, claim);
  if (!counters.claims.delete(claim)) return;
  counters.changes += 1;
  for (const counter of claim.counters) {
    if (counter.kind === 'period') counter.reserved -= claim.tokens;
  }
}

/** What a claim used; a refused request still counts as one, and a cancelled one not. */
export type Used = { readonly tokens: number } | 'request' | 'nothing';

/**
 * Corrects the caps to the actual usage, once. For a cancelled request, returns everything.
 * Returns whether the claim had not ended.
 */
export function end(counters: Counters, claim: LeasedClaim, used: Used): boolean {
  if (claim.hasEnded) return false;
  claim.hasEnded = true;
  lose(counters, claim);
  const usedTokens = typeof used === 'string' ? 0 : used.tokens;
  for (const claimed of claim.counters) {
    if (claimed.kind === 'period') {
      // A claim that was lost may end after its period was dropped.
      const period = counters.all.get(claimed.name) ?? claimed;
      period.used = plus(period.used, [0, usedTokens - claim.tokens]);
      counters.all.set(period.name, period);
    } else if (claimed.kind === 'window' && typeof used === 'string') {
      giveBack(counters, claimed, [used === 'request' ? 0 : 1, claim.tokens]);
    }
  }
  counters.changes += 1;
  return true;
}

/** Whether granted permits are unused. */
export function hasUnused({ all }: Counters): boolean {
  return all
    .values()
    .some(({ limit, given, used }) =>
      PAIR.some((at) => limit[at] !== UNLIMITED && given[at] > used[at]),
    );
}

/**
 * Drops the periods before the current ones that no open claim counts in: Redis and the books have
 * their use, and each call would name all of them for as long as the account is busy.
 */
export function dropEnded({ all, claims }: Counters, current: readonly CounterLimit[]): void {
  for (const [name, counter] of all) {
    // Days and months have names of different lengths.
    const isEnded =
      counter.kind === 'period' &&
      current.some(
        (other) =>
          other.kind === 'period' && other.name.length === name.length && other.name > name,
      );
    if (!isEnded || claims.values().some((claim) => claim.counters.includes(counter))) continue;
    all.delete(name);
  }
}
