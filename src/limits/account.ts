// What one account has in use, and the accounts that are kept in memory. Nothing here decides:
// limits.ts does. An account is forgotten only when nothing that it has used counts any more, or
// the books have it.

import type { Plan } from '../core/plan.ts';
import {
  createWindow,
  type RateWindow,
  resumeWindow,
  rollWindow,
  WINDOW_MS,
} from '../core/window.ts';
import type { PastAdmission } from './contract.ts';
import type { Period } from './period.ts';

/** How long a slot is held before somebody asks whether its request still lives. */
export const LEASE_MS = 30_000;

/** How long an account is kept after its last use: windows are over, and the books have it all. */
const KEEP_MS = WINDOW_MS;

/** Accounts looked at, in turn, for each one that is added when there are too many. */
const LOOKS = 4;

/** A claim that has not ended. Its slot is a lease: it is held for as long as its request lives. */
export type RunningClaim = {
  readonly requestId: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly model: string;
  hasSlot: boolean;
  leaseUntil: number;
};

/** With what it has reserved of its day and month. */
export type AccountClaim = RunningClaim & {
  readonly tokens: number;
  readonly periods: readonly Period[];
};

export type AccountState = {
  readonly claims: Set<AccountClaim>;
  plan: RateWindow;
  /** Of every model in use, with limits or without: they are set while requests run. */
  readonly models: Map<string, RateWindow>;
  /** The request window of count_tokens. */
  counts: RateWindow;
  readonly days: Period[];
  readonly months: Period[];
  keepUntil: number;
};

/** An account as a new process finds it; `past` is what was admitted before, newest first. */
export function createAccountState(
  past: readonly (PastAdmission & { readonly atMs: number })[],
  plan: Plan,
  nowMs: number,
): AccountState {
  const models = new Map<string, RateWindow>();
  for (const [model, admitted] of Map.groupBy(past, (each) => each.model)) {
    models.set(model, resumeWindow(admitted, {}));
  }
  return {
    claims: new Set(),
    plan: resumeWindow(past, plan),
    models,
    counts: createWindow(),
    days: [],
    months: [],
    keepUntil: nowMs + KEEP_MS,
  };
}

/** Something was used or given back just now. */
export function keep(state: AccountState, nowMs: number): void {
  state.keepUntil = nowMs + KEEP_MS;
}

/** Lets go of windows that have run out and of slots whose request is gone. */
export function rollAccount(
  state: AccountState,
  nowMs: number,
  isLive: (requestId: string) => boolean,
): void {
  for (const claim of state.claims) {
    if (claim.leaseUntil > nowMs) continue;
    if (isLive(claim.requestId)) claim.leaseUntil = nowMs + LEASE_MS;
    else state.claims.delete(claim);
  }
  state.counts = rollWindow(state.counts, nowMs);
  const plan = rollWindow(state.plan, nowMs);
  if (plan === state.plan) return;
  state.plan = plan;
  for (const [model, window] of state.models) {
    if (rollWindow(window, nowMs) !== window) state.models.delete(model);
  }
}

/** Slots in use, of all models or of one. */
export function slotsUsed(state: AccountState, model?: string): number {
  let used = 0;
  for (const claim of state.claims) {
    if (claim.hasSlot && (model === undefined || claim.model === model)) used += 1;
  }
  return used;
}

/** What requests in flight have reserved of a day or month. */
export function reservedIn({ claims }: AccountState, period: Period): number {
  let reserved = 0;
  for (const { periods, tokens } of claims) if (periods.includes(period)) reserved += tokens;
  return reserved;
}

type AccountStates = {
  readonly find: (accountId: string) => AccountState | undefined;
  readonly add: (accountId: string, state: AccountState, nowMs: number) => void;
  readonly entries: () => Iterable<[accountId: string, AccountState]>;
  readonly size: () => number;
};

/**
 * Accounts beyond `most` are kept only while they are in use. Each one that is added looks at a few
 * others in turn, so that no claim ever waits for a walk through all of them.
 */
export function createAccountStates(
  most: number,
  isLive: (requestId: string) => boolean,
): AccountStates {
  const states = new Map<string, AccountState>();
  let turn = states.entries();

  function forgetSome(nowMs: number): void {
    for (let look = 0; look < LOOKS; look += 1) {
      const next = turn.next();
      if (next.done === true) {
        turn = states.entries();
        return;
      }
      const [accountId, state] = next.value;
      rollAccount(state, nowMs, isLive);
      if (state.claims.size === 0 && state.keepUntil <= nowMs) states.delete(accountId);
    }
  }

  return {
    find: (accountId) => states.get(accountId),
    add(accountId, state, nowMs) {
      if (states.size >= most) forgetSome(nowMs);
      states.set(accountId, state);
    },
    entries: () => states.entries(),
    size: () => states.size,
  };
}
