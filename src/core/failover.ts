// What happens after an attempt has failed: the same candidate is asked again, the next one is, or
// that was it. Called by the route after each failure, while nothing of an answer has left: once
// content has, there is nothing to decide. The classes and what they allow are in `failure.ts`.

import { unreachable } from './assert.ts';
import { FAILURES, type FailureClass, type UpstreamFailure } from './failure.ts';

/** Questions of one request to upstreams, whoever they went to. */
const ATTEMPTS_MAX = 3;

/** An upstream that wants to be left alone for no longer than this is waited for. */
export const SHORT_DELAY_MS = 2_000;

/** The pause before a candidate is asked again: random, or all who failed would be back at once. */
const PAUSE_MIN_MS = 100;
const PAUSE_MAX_MS = 800;

/**
 * The same candidate is asked again only while the request is this young. A failure that took
 * longer would take as long again; another candidate may still be quick.
 */
const AGAIN_WITHIN_MS = 30_000;

export type Step =
  | { readonly kind: 'again'; readonly afterMs: number }
  | { readonly kind: 'next' }
  | { readonly kind: 'stop' };

/** How a request stands when one of its attempts has failed. */
export type Situation = {
  /** Questions so far, the one that failed included. A candidate that refused to be asked is none. */
  readonly attempts: number;
  /** Whether the candidate that failed had been asked before. */
  readonly repeated: boolean;
  readonly hasOtherCredential: boolean;
  readonly hasNext: boolean;
  /** Whether the retry budget of its upstream has something left. */
  readonly mayRepeat: boolean;
  /** Since the first question, and how long all of them together may take. */
  readonly elapsedMs: number;
  readonly deadlineMs: number;
  /** The client has left, or the server stops. */
  readonly cancelled: boolean;
  /** In [0, 1): where in its range a pause falls. */
  readonly dice: number;
};

const NEXT: Step = { kind: 'next' };
const STOP: Step = { kind: 'stop' };

export function decideStep(failure: UpstreamFailure, situation: Situation): Step {
  const { attempts, elapsedMs, deadlineMs, cancelled, hasNext } = situation;
  if (!FAILURES[failure.class].next || cancelled) return STOP;
  if (attempts >= ATTEMPTS_MAX || elapsedMs >= deadlineMs) return STOP;
  const afterMs = pauseBeforeAgain(failure, situation);
  const youngUntilMs = Math.min(AGAIN_WITHIN_MS, deadlineMs);
  if (afterMs !== undefined && elapsedMs + afterMs < youngUntilMs) {
    return { kind: 'again', afterMs };
  }
  return hasNext ? NEXT : STOP;
}

/** How long to wait before the same candidate is asked again; undefined where it is not. */
function pauseBeforeAgain(failure: UpstreamFailure, situation: Situation): number | undefined {
  const { repeated, hasOtherCredential, mayRepeat } = situation;
  const { again } = FAILURES[failure.class];
  // Keys and their limits are apart from each other: to ask with another key repeats nothing.
  if (isOfCredential(failure.class) && hasOtherCredential && !repeated) return 0;
  if (!mayRepeat) return undefined;
  switch (again) {
    case 'never':
    case 'credential':
      return undefined;
    case 'connection':
      return repeated || failure.phase === 'connect' ? lastResort(failure, situation) : 0;
    case 'delay': {
      const { retryAfterMs } = failure;
      return repeated || !isShort(retryAfterMs) ? undefined : retryAfterMs;
    }
    case 'jitter':
      return lastResort(failure, situation);
    default:
      return unreachable(again);
  }
}

/** Somebody else is more likely to answer than who has just failed. */
function lastResort({ retryAfterMs }: UpstreamFailure, situation: Situation): number | undefined {
  if (situation.hasNext) return undefined;
  const pauseMs = PAUSE_MIN_MS + situation.dice * (PAUSE_MAX_MS - PAUSE_MIN_MS);
  if (retryAfterMs === undefined) return pauseMs;
  return isShort(retryAfterMs) ? Math.max(pauseMs, retryAfterMs) : undefined;
}

function isShort(retryAfterMs: number | undefined): boolean {
  return retryAfterMs !== undefined && retryAfterMs <= SHORT_DELAY_MS;
}

/** What is about one credential and not about its upstream, where that has several. */
export function isOfCredential(kind: FailureClass): boolean {
  return kind === 'credential' || kind === 'rate_limited';
}

/**
 * Which of two failures the caller is told, the later one at best. What this request can never get
 * here says less than what may pass, and who was not asked says less than who failed.
 */
export function tellingFailure(
  earlier: UpstreamFailure | undefined,
  later: UpstreamFailure,
): UpstreamFailure {
  return earlier !== undefined && weightOf(earlier) > weightOf(later) ? earlier : later;
}

function weightOf({ class: kind }: UpstreamFailure): number {
  // A caller's mistake ends it all, so it is always the last and has to be told.
  if (kind === 'unsupported') return 0;
  return kind === 'no_capacity' ? 1 : 2;
}
