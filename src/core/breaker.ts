// Leaves an upstream alone that fails for a model: a circuit breaker. Closed, everybody passes, and
// how they fare is counted; open, nobody does for a while; then one passes as a probe, and what
// becomes of it decides. `upstream/health.ts` has one for each upstream and model.

import { createRollingPair } from './rolling.ts';

/** It opens where at least half of so many requests of the last ten seconds have failed … */
export const REQUESTS_MIN = 20;
/** … or after so many in a row: on a quiet server those are all that there is to know. */
export const FAILURES_IN_ROW = 5;
/** The longest cool-down, also where the upstream asks for more: it may be back sooner. */
export const COOL_DOWN_MAX_MS = 60_000;
/** What is told as the wait while a probe is under way: nobody knows when that ends. */
const PROBE_WAIT_MS = 1_000;

/**
 * The right to ask. What comes of it is told with it; once the breaker has changed its state, that
 * says nothing about the state that it is in now, and is ignored.
 */
export type Pass = number;

export type BreakerFailure = {
  readonly nowMs: number;
  /** The least cool-down. It doubles while probes fail. */
  readonly coolDownMs: number;
  /** It had begun to answer. */
  readonly afterContent: boolean;
  /** The same request had failed here before: it is no further evidence, nor is its third try. */
  readonly repeated: boolean;
  /** How long the upstream wants to be left alone; it opens the breaker at once. */
  readonly retryAfterMs?: number | undefined;
};

export type Breaker = ReturnType<typeof createBreaker>;

/**
 * How long a breaker that has opened so often before stays open. The first time, what the upstream
 * asks for stands in the place of what we would guess.
 */
export function openForMs(openings: number, coolDownMs: number, retryAfterMs: number): number {
  if (openings === 0 && retryAfterMs > 0) return Math.min(retryAfterMs, COOL_DOWN_MAX_MS);
  const doubled = coolDownMs * 2 ** Math.min(openings, 20);
  return Math.min(Math.max(doubled, retryAfterMs), COOL_DOWN_MAX_MS);
}

/** Times are milliseconds of a clock that never jumps. */
export function createBreaker() {
  const window = createRollingPair();
  let kind: 'closed' | 'open' | 'probing' = 'closed';
  /** Rises when the state changes; passes of an earlier one are stale. */
  let epoch = 0;
  let openUntilMs = 0;
  /** How often it has opened since it was last closed. */
  let openings = 0;
  let failuresInRow = 0;
  /** Apart from those: an upstream that breaks off each answer has begun each of them well. */
  let cutsInRow = 0;

  const open = ({ nowMs, coolDownMs, retryAfterMs = 0 }: BreakerFailure): void => {
    kind = 'open';
    epoch += 1;
    openUntilMs = nowMs + openForMs(openings, coolDownMs, retryAfterMs);
    openings += 1;
  };
  const forget = (): void => {
    window.clear();
    failuresInRow = 0;
    cutsInRow = 0;
  };
  const hasFailedEnough = (nowMs: number): boolean => {
    if (failuresInRow >= FAILURES_IN_ROW || cutsInRow >= FAILURES_IN_ROW) return true;
    const [successes, failures] = window.totals(nowMs);
    return successes + failures >= REQUESTS_MIN && failures >= successes;
  };

  return {
    /** Undefined where nobody may ask now. */
    enter(nowMs: number): Pass | undefined {
      if (kind === 'closed') return epoch;
      if (kind === 'probing' || nowMs < openUntilMs) return undefined;
      kind = 'probing';
      epoch += 1;
      return epoch;
    },
    /** How long until somebody may ask; 0 for now. Changes nothing. */
    waitMs(nowMs: number): number {
      if (kind === 'closed') return 0;
      return kind === 'probing' ? PROBE_WAIT_MS : Math.max(0, openUntilMs - nowMs);
    },
    /** There is content. A probe has succeeded with it, however long its answer takes. */
    answered(pass: Pass, nowMs: number): void {
      if (pass !== epoch) return;
      if (kind === 'probing') {
        // The epoch stays: the probe goes on as one of those that pass now.
        kind = 'closed';
        openings = 0;
        forget();
      }
      failuresInRow = 0;
      window.add(0, nowMs);
    },
    /** An answer came to its end. */
    finished(pass: Pass): void {
      if (pass === epoch) cutsInRow = 0;
    },
    /** Whether this has opened it where it was closed. */
    failed(pass: Pass, failure: BreakerFailure): boolean {
      const { nowMs, afterContent, repeated, retryAfterMs = 0 } = failure;
      if (pass !== epoch) return false;
      if (kind === 'probing') {
        open(failure);
        return false;
      }
      if (!repeated) {
        window.add(1, nowMs);
        if (afterContent) cutsInRow += 1;
        else failuresInRow += 1;
      }
      if (retryAfterMs === 0 && !hasFailedEnough(nowMs)) return false;
      open(failure);
      forget();
      return true;
    },
    /** Nothing can be said: the client left, or the mistake was its own. A probe gives its turn back. */
    released(pass: Pass, nowMs: number): void {
      if (pass !== epoch || kind !== 'probing') return;
      kind = 'open';
      epoch += 1;
      openUntilMs = nowMs;
    },
    state(nowMs: number): 'closed' | 'open' | 'half_open' {
      if (kind === 'open' && nowMs < openUntilMs) return 'open';
      return kind === 'closed' ? 'closed' : 'half_open';
    },
  };
}
