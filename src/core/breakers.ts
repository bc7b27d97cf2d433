// The circuit breakers of one model at one upstream: one per account whose requests fail, and a
// shared one for all accounts. One account must not be able to block a model for others, so its
// failures count against that account alone. An account's open breaker, or as many failures of all
// together, trigger a probe of our own, without caller content, which decides whether the shared
// breaker opens. `upstream/health.ts` has one set for each upstream and model, and sends the probes.

import { createAcceptance } from './acceptance.ts';
import {
  type Breaker,
  type BreakerFailure,
  createBreaker,
  createEvidence,
  FAILURES_IN_ROW,
  type Pass as OwnPass,
  openForMs,
} from './breaker.ts';
import { putLast } from './recent.ts';

/** The minimum interval between probes. It bounds the probes that callers can cause. */
const PROBE_GAP_MS = 10_000;
/** The `waitMs` during a trial: a probe takes at most a few seconds. */
const TRIAL_WAIT_MS = 1_000;
/** Accounts with their own breaker; the one with the oldest failure is evicted first. */
const ACCOUNTS_MAX = 256;
/** An account's dearer fallbacks for failures that no probe confirms, and their time. */
const DEARER_MAX = FAILURES_IN_ROW;
const DEARER_WITHIN_MS = 600_000;

export type BreakersPass = {
  readonly account: string;
  readonly epoch: number;
  readonly own: { readonly breaker: Breaker; readonly pass: OwnPass } | undefined;
};

export type Breakers = ReturnType<typeof createBreakers>;

type Own = {
  readonly breaker: Breaker;
  /** Dearer fallbacks since `dearerSince`. */
  dearer: number;
  dearerSince: number;
};

export type BreakersState = {
  readonly kind: 'closed' | 'open' | 'half_open';
  readonly waitMs: number;
};

type ProbeFailure = Pick<BreakerFailure, 'nowMs' | 'coolDownMs' | 'retryAfterMs'>;

/** Times are milliseconds of a monotonic clock. */
export function createBreakers() {
  const owns = new Map<string, Own>();
  const acceptance = createAcceptance();
  const evidence = createEvidence();
  /** `trial`: the cool-down is over; one request and one probe test the upstream. */
  let kind: 'closed' | 'open' | 'trial' = 'closed';
  /**
   * Incremented at each state change. Outcomes from earlier epochs say nothing about the current
   * state.
   */
  let epoch = 0;
  let openUntilMs = 0;
  let openings = 0;
  let probe: 'none' | 'wanted' | 'under_way' = 'none';
  /** Whether the probe decides if a closed breaker opens. */
  let isSuspected = false;
  let nextProbeAt = Number.NEGATIVE_INFINITY;

  const open = ({ nowMs, coolDownMs, retryAfterMs = 0 }: ProbeFailure): void => {
    kind = 'open';
    epoch += 1;
    openUntilMs = nowMs + openForMs(openings, coolDownMs, retryAfterMs);
    openings += 1;
    evidence.forget();
  };
  const close = (): void => {
    kind = 'closed';
    openings = 0;
    evidence.forget();
    owns.clear();
  };
  const ownOf = (account: string): Own => {
    const own = owns.get(account) ?? { breaker: createBreaker(), dearer: 0, dearerSince: 0 };
    putLast(owns, account, own, ACCOUNTS_MAX);
    return own;
  };
  /** Whether the account's own breaker opens. */
  const failOwn = ({ account, own }: BreakersPass, failure: BreakerFailure): boolean => {
    const { breaker } = ownOf(account);
    const isClosed = breaker.state(failure.nowMs) === 'closed';
    const fresh = isClosed ? breaker.enter(failure.nowMs) : undefined;
    const pass = own?.breaker === breaker ? own.pass : fresh;
    return pass !== undefined && breaker.failed(pass, failure);
  };
  const suspect = (nowMs: number): void => {
    // The latest probe succeeded, so these failures are caused by the callers' content.
    if (probe === 'none' && nowMs < nextProbeAt) evidence.forget();
    else {
      isSuspected = true;
      if (probe === 'none') probe = 'wanted';
    }
  };

  return {
    acceptance,
    /** Undefined if the account's requests are rejected now. */
    enter(account: string, nowMs: number): BreakersPass | undefined {
      if (kind === 'trial' || (kind === 'open' && nowMs < openUntilMs)) return undefined;
      const breaker = owns.size === 0 ? undefined : owns.get(account)?.breaker;
      const pass = breaker?.enter(nowMs);
      if (breaker !== undefined && pass === undefined) return undefined;
      if (kind === 'open') {
        kind = 'trial';
        epoch += 1;
        if (probe === 'none') probe = 'wanted';
      }
      const own = breaker !== undefined && pass !== undefined ? { breaker, pass } : undefined;
      return { account, epoch, own };
    },
    /** The time until the account's requests are admitted; 0 for now. Has no side effect. */
    waitMs(account: string, nowMs: number): number {
      if (kind === 'trial') return TRIAL_WAIT_MS;
      const commonMs = kind === 'open' ? Math.max(0, openUntilMs - nowMs) : 0;
      return Math.max(commonMs, owns.get(account)?.breaker.waitMs(nowMs) ?? 0);
    },
    answered({ epoch: ofPass, own }: BreakersPass, nowMs: number): void {
      own?.breaker.answered(own.pass, nowMs);
      acceptance.answered();
      if (ofPass !== epoch) return;
      if (kind === 'trial') close();
      evidence.answered(nowMs);
      isSuspected = false;
    },
    finished({ epoch: ofPass, own }: BreakersPass): void {
      own?.breaker.finished(own.pass);
      if (ofPass === epoch) evidence.finished();
    },
    failed(pass: BreakersPass, failure: BreakerFailure): void {
      const isOpen = failOwn(pass, failure);
      // A failed trial is inconclusive, since its request may be at fault. The concurrent probe
      // decides.
      if (pass.epoch !== epoch || kind !== 'closed') return;
      const isEnough = evidence.failed(failure);
      if (isOpen || isEnough) suspect(failure.nowMs);
    },
    /** Whether only the account's own failures keep its requests out. */
    refusesAlone: (account: string, nowMs: number): boolean =>
      kind === 'closed' && (owns.get(account)?.breaker.waitMs(nowMs) ?? 0) > 0,
    /**
     * Whether a dearer model may replace this one after an attempt of the account has failed. Its
     * request may be the cause, so this is limited until a probe has failed too. Send any probe
     * that is due.
     */
    takeDearer(account: string, nowMs: number): boolean {
      if (kind !== 'closed') return true;
      const own = ownOf(account);
      if (own.dearer === 0 || nowMs >= own.dearerSince + DEARER_WITHIN_MS) {
        own.dearer = 0;
        own.dearerSince = nowMs;
      }
      if (own.dearer >= DEARER_MAX) {
        suspect(nowMs);
        return false;
      }
      own.dearer += 1;
      return true;
    },
    released({ own }: BreakersPass, nowMs: number): void {
      own?.breaker.released(own.pass, nowMs);
    },
    /** Whether the caller has to send a probe now and pass its outcome to `judged`. */
    takeProbe(): boolean {
      if (probe !== 'wanted') return false;
      probe = 'under_way';
      return true;
    },
    /** Returns true if this opened the shared breaker. */
    judged(isWell: boolean, failure: ProbeFailure): boolean {
      probe = 'none';
      nextProbeAt = failure.nowMs + PROBE_GAP_MS;
      const wasSuspected = isSuspected;
      isSuspected = false;
      if (kind === 'trial') {
        if (isWell) close();
        else open(failure);
        return false;
      }
      if (kind === 'open' || !wasSuspected) return false;
      if (isWell) {
        evidence.forget();
        return false;
      }
      open(failure);
      return true;
    },
    /** Opens for all accounts: the upstream refuses the gateway's own request. True if that is new. */
    refuse(failure: ProbeFailure): boolean {
      if (kind !== 'closed') return false;
      open(failure);
      return true;
    },
    /** The state of the shared breaker. */
    state(nowMs: number): BreakersState {
      if (kind === 'closed') return { kind, waitMs: 0 };
      if (kind === 'trial') return { kind: 'half_open', waitMs: TRIAL_WAIT_MS };
      const waitMs = Math.max(0, openUntilMs - nowMs);
      return { kind: waitMs > 0 ? 'open' : 'half_open', waitMs };
    },
  };
}
