// Builds the call of one exchange from what a holder has and what a request needs. Pure;
// exchange.ts sends it.

import type { Span } from '../../core/calendar.ts';
import type { Plan } from '../../core/plan.ts';
import {
  type Counters,
  LAPSE_MS,
  type Need,
  periodOf,
  reservedOf,
  slotsOf,
  slotsUsed,
  windowOf,
} from './counters.ts';
import {
  type Pair,
  type PeriodAsked,
  type ScriptCall,
  type SeedWindow,
  type SlotsAsked,
  UNLIMITED,
  type WindowAsked,
} from './script.ts';

/** An account counts as busy for this long after a request. */
const BUSY_MS = 250;

export type LeaseRequest = {
  /** The active plan, if known. It bounds a window rebuilt from the ledger. */
  readonly plan?: Plan;
  /** Absent to report and read the current state only. */
  readonly need?: Need;
  /** The number of similar requests that wait. */
  readonly waiting?: Pair;
  /** The periods whose usage is needed. */
  readonly periods: readonly PeriodAskedFor[];
};

export type PeriodAskedFor = {
  readonly name: string;
  readonly span: Span;
  /** Whether the ledger's part of it is needed too. */
  readonly counts: boolean;
};

/** The values read from the ledger. */
export type SeedFacts = {
  readonly marks: ReadonlyMap<string, number>;
  readonly seed?: readonly SeedWindow[];
};

/** The periods that are requested, and all others with local usage. */
export function periodNames(
  { periods }: Counters,
  { periods: asked }: LeaseRequest,
): readonly string[] {
  return [...new Set([...asked.map(({ name }) => name), ...periods.keys()])];
}

export function callOf(
  counters: Counters,
  asked: LeaseRequest,
  { marks, seed }: SeedFacts,
  nowMs: number,
): Omit<ScriptCall, 'seq' | 'holder' | 'holders' | 'now'> {
  const { need } = asked;
  const wish = wishOf(counters, asked, nowMs);
  const names = (held: Iterable<string>, needed: readonly { readonly name: string }[] = []) => [
    ...new Set([...held, ...needed.map(({ name }) => name)]),
  ];
  const windows = names(counters.windows.keys(), need?.windows).map((name): WindowAsked => {
    const window = windowOf(counters, name);
    const needed = need?.windows.find((each) => each.name === name);
    const limit = needed?.limit ?? window.limit;
    return {
      name,
      start: window.start,
      age: Math.max(0, Math.floor(nowMs - (window.startedAtMs ?? nowMs))),
      latest: Math.max(0, Math.floor(nowMs - (window.takenAtMs ?? nowMs))),
      keep: [window.count, window.tokens],
      need: needed === undefined || need === undefined ? [0, 0] : need.take,
      wish: [limit[0] === UNLIMITED ? 0 : wish[0], limit[1] === UNLIMITED ? 0 : wish[1]],
      limit,
    };
  });
  const slots = names(counters.slots.keys(), need?.slots).map((name): SlotsAsked => {
    const needed = need?.slots.find((each) => each.name === name);
    const limit = needed?.limit ?? slotsOf(counters, name).limit;
    return {
      name,
      keep: slotsUsed(counters, name),
      need: needed === undefined || need === undefined ? 0 : need.take[0],
      wish: limit === UNLIMITED ? 0 : wish[0],
      limit,
    };
  });
  const periods = periodNames(counters, asked).map((name): PeriodAsked => {
    const period = periodOf(counters, name);
    const needed = need?.periods.find((each) => each.name === name);
    const limit = needed?.limit ?? period.limit;
    return {
      name,
      known: period.mark ?? -1,
      mark: marks.get(name) ?? -1,
      before: period.before ?? -1,
      counts: asked.periods.some((each) => each.name === name && each.counts),
      keep: period.used,
      reserved: reservedOf(counters, name),
      need: needed === undefined || need === undefined ? 0 : need.take[1],
      wish: limit === UNLIMITED ? 0 : wish[1],
      limit,
    };
  });
  return {
    epoch: counters.epoch,
    windows,
    slots,
    periods,
    ...(seed === undefined ? {} : { seed }),
  };
}

/**
 * Requests twice what was taken since the last call, plus what waits. Requests nothing after an
 * idle period, since unused permits are returned within a second.
 */
function wishOf(counters: Counters, { need, waiting = [0, 0] }: LeaseRequest, nowMs: number): Pair {
  const { taken, knownAtMs, windows } = counters;
  const takenAtMs = Math.max(...[...windows.values()].map((each) => each.takenAtMs ?? -Infinity));
  // With no waiting request, only back-to-back requests justify more permits.
  const pauseMs = need === undefined ? BUSY_MS : LAPSE_MS;
  const isBusy = nowMs - knownAtMs < LAPSE_MS && nowMs - takenAtMs < pauseMs;
  const factor = isBusy ? 2 : 0;
  return [waiting[0] + factor * taken.count, waiting[1] + factor * taken.tokens];
}
