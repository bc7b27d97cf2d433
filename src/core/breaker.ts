// A circuit breaker. Closed, it admits every request and counts outcomes. Open, it rejects requests
// for the cool-down, then admits one as a probe whose outcome closes or reopens it.
// `upstream/health.ts` has one for each upstream and model.

import { createRollingPair } from './rolling.ts';

/** Opens if at least half of this many requests within ten seconds have failed … */
const REQUESTS_MIN = 20;
/** … or after this many failures in a row, the only evidence on a quiet server. */
export const FAILURES_IN_ROW = 5;
/** The longest cool-down, even if the upstream requests more: it may recover sooner. */
const COOL_DOWN_MAX_MS = 60_000;
/** The reported wait while a probe is in progress, because its end is unknown. */
const PROBE_WAIT_MS = 1_000;

/**
 * The right to send a request. Its outcome is reported with it, and ignored if the breaker has
 * changed state in between: it then says nothing about the current state.
 */
export type Pass = number;

export type BreakerFailure = {
  readonly nowMs: number;
  /** The initial cool-down. It doubles while probes fail. */
  readonly coolDownMs: number;
  /** Whether the answer had begun. */
  readonly afterContent: boolean;
  /** Whether the same request failed here before. Repeated failures are not counted as evidence. */
  readonly repeated: boolean;
  /** The upstream's requested delay. It opens the breaker immediately. */
  readonly retryAfterMs?: number | undefined;
};

export type Breaker = ReturnType<typeof createBreaker>;

/** What requests have met. */
export function createEvidence() {
  const window = createRollingPair();
  let failuresInRow = 0;
  /**
   * Counted separately, because an upstream that cuts off every answer starts each of them
   * successfully.
   */
  let cutsInRow = 0;
  return {
    answered(nowMs: number): void {
      failuresInRow = 0;
      window.add(0, nowMs);
    },
    finished(): void {
      cutsInRow = 0;
    },
    /** Whether the evidence suffices to open a breaker. */
    failed({ nowMs, afterContent, repeated, retryAfterMs = 0 }: BreakerFailure): boolean {
      if (!repeated) {
        window.add(1, nowMs);
        if (afterContent) cutsInRow += 1;
        else failuresInRow += 1;
      }
      if (retryAfterMs > 0 || Math.max(failuresInRow, cutsInRow) >= FAILURES_IN_ROW) return true;
      const [successes, failures] = window.totals(nowMs);
      return successes + failures >= REQUESTS_MIN && failures >= successes;
    },
    forget(): void {
      window.clear();
      failuresInRow = 0;
      cutsInRow = 0;
    },
  };
}

/**
 * How long the breaker stays open after `openings` consecutive openings. For the first one, the
 * upstream's requested delay replaces our default.
 */
export function openForMs(openings: number, coolDownMs: number, retryAfterMs: number): number {
  if (openings === 0 && retryAfterMs > 0) return Math.min(retryAfterMs, COOL_DOWN_MAX_MS);
  const doubled = coolDownMs * 2 ** Math.min(openings, 20);
  return Math.min(Math.max(doubled, retryAfterMs), COOL_DOWN_MAX_MS);
}

/** Times are milliseconds of a monotonic clock. */
export function createBreaker() {
  const evidence = createEvidence();
  let kind: 'closed' | 'open' | 'probing' = 'closed';
  /** Incremented at each state change; passes from earlier epochs are stale. */
  let epoch = 0;
  let openUntilMs = 0;
  /** Openings since it was last closed. */
  let openings = 0;

  const open = ({ nowMs, coolDownMs, retryAfterMs = 0 }: BreakerFailure): void => {
    kind = 'open';
    epoch += 1;
    openUntilMs = nowMs + openForMs(openings, coolDownMs, retryAfterMs);
    openings += 1;
  };

  return {
    /** Undefined if no request is admitted now. */
    enter(nowMs: number): Pass | undefined {
      if (kind === 'closed') return epoch;
      if (kind === 'probing' || nowMs < openUntilMs) return undefined;
      kind = 'probing';
      epoch += 1;
      return epoch;
    },
    /** The time until a request is admitted; 0 for now. Has no side effect. */
    waitMs(nowMs: number): number {
      if (kind === 'closed') return 0;
      return kind === 'probing' ? PROBE_WAIT_MS : Math.max(0, openUntilMs - nowMs);
    },
    /** Content has arrived. A probe succeeds at this point, however long its answer takes. */
    answered(pass: Pass, nowMs: number): void {
      if (pass !== epoch) return;
      if (kind === 'probing') {
        // The epoch stays the same, so the probe continues as one of the admitted requests.
        kind = 'closed';
        openings = 0;
        evidence.forget();
      }
      evidence.answered(nowMs);
    },
    /** An answer was completed. */
    finished(pass: Pass): void {
      if (pass === epoch) evidence.finished();
    },
    /** Returns true if this failure opened it. */
    failed(pass: Pass, failure: BreakerFailure): boolean {
      if (pass !== epoch) return false;
      if (kind !== 'probing' && !evidence.failed(failure)) return false;
      open(failure);
      evidence.forget();
      return true;
    },
    /**
     * No verdict: the client disconnected, or the request was at fault. A probe returns its turn.
     */
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
