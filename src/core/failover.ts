// Decides what follows a failed attempt: retry the same candidate, try another one, or give up. The
// route calls it after each failure before content was delivered; after that nothing can be
// retried. `failure.ts` defines the failure classes and what each allows.

import { unreachable } from './assert.ts';
import { FAILURES, type FailureClass, type UpstreamFailure } from './failure.ts';

/**
 * Attempts of one request during which a model may be tried more than once. After them, each
 * untried model gets one attempt: an outage of all upstreams of the requested model must not use up
 * the attempts of its fallbacks.
 */
const ATTEMPTS_MAX = 3;

/** The longest delay requested by an upstream that the route waits for. */
export const SHORT_DELAY_MS = 2_000;

/** Jittered pause before a retry, so that failed requests do not all return at once. */
const PAUSE_MIN_MS = 100;
const PAUSE_MAX_MS = 800;

/**
 * The same candidate is retried only while the request is younger than this. A slower failure would
 * take as long again; another candidate may be fast.
 */
const AGAIN_WITHIN_MS = 30_000;

export type Step =
  | { readonly kind: 'again'; readonly afterMs: number }
  | { readonly kind: 'next' }
  /** The next candidate of an untried model. */
  | { readonly kind: 'next_model' }
  | { readonly kind: 'stop' };

/** The state of a request when one of its attempts has failed. */
export type Situation = {
  /** Attempts so far, the failed one included. Skipped candidates do not count. */
  readonly attempts: number;
  /** Whether the failed candidate had been tried before. */
  readonly repeated: boolean;
  readonly hasOtherCredential: boolean;
  readonly hasNext: boolean;
  /** Whether one of the next candidates runs an untried model. */
  readonly hasNewModel: boolean;
  /** Whether the retry budget of the upstream allows a repeat. */
  readonly mayRepeat: boolean;
  /** Time since the first attempt, and the limit for all attempts together. */
  readonly elapsedMs: number;
  readonly deadlineMs: number;
  /** The client disconnected or the server is stopping. */
  readonly cancelled: boolean;
  /** In [0, 1): sets the length of the pause within its range. */
  readonly dice: number;
};

const NEXT: Step = { kind: 'next' };
const NEXT_MODEL: Step = { kind: 'next_model' };
const STOP: Step = { kind: 'stop' };

export function decideStep(failure: UpstreamFailure, situation: Situation): Step {
  const { attempts, elapsedMs, deadlineMs, cancelled, hasNext } = situation;
  if (!FAILURES[failure.class].next || cancelled || elapsedMs >= deadlineMs) return STOP;
  if (attempts >= ATTEMPTS_MAX) return decideLateStep(failure, situation);
  const afterMs = pauseBeforeAgain(failure, situation);
  const youngUntilMs = Math.min(AGAIN_WITHIN_MS, deadlineMs);
  if (afterMs !== undefined && elapsedMs + afterMs < youngUntilMs) {
    return { kind: 'again', afterMs };
  }
  return hasNext ? NEXT : STOP;
}

/** The step after the shared attempts are used up. */
function decideLateStep(failure: UpstreamFailure, situation: Situation): Step {
  // The upstream closed a kept-alive connection at the same moment and has not seen the request.
  const isUnseen = failure.onKeptConnection === true && !situation.repeated;
  if (isUnseen && situation.mayRepeat) return { kind: 'again', afterMs: 0 };
  return situation.hasNewModel ? NEXT_MODEL : STOP;
}

/** The pause before a retry of the same candidate; undefined if it is not retried. */
function pauseBeforeAgain(failure: UpstreamFailure, situation: Situation): number | undefined {
  const { repeated, hasOtherCredential, mayRepeat } = situation;
  const { again } = FAILURES[failure.class];
  // Each key has its own limits, so another key does not repeat the request that failed.
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

/** Retries the same candidate only if no other is left: another is more likely to answer. */
function lastResort({ retryAfterMs }: UpstreamFailure, situation: Situation): number | undefined {
  if (situation.hasNext) return undefined;
  const pauseMs = PAUSE_MIN_MS + situation.dice * (PAUSE_MAX_MS - PAUSE_MIN_MS);
  if (retryAfterMs === undefined) return pauseMs;
  return isShort(retryAfterMs) ? Math.max(pauseMs, retryAfterMs) : undefined;
}

function isShort(retryAfterMs: number | undefined): boolean {
  return retryAfterMs !== undefined && retryAfterMs <= SHORT_DELAY_MS;
}

/** Whether a failure concerns one credential and not the whole upstream, if it has several. */
export function isOfCredential(kind: FailureClass): boolean {
  return kind === 'credential' || kind === 'rate_limited';
}

/**
 * The failure to report to the caller, preferably the later one. A temporary failure says more than
 * a permanent limitation, and a failed attempt more than a skipped one.
 */
export function tellingFailure(
  earlier: UpstreamFailure | undefined,
  later: UpstreamFailure,
): UpstreamFailure {
  return earlier !== undefined && weightOf(earlier) > weightOf(later) ? earlier : later;
}

function weightOf({ class: kind }: UpstreamFailure): number {
  // A caller's mistake ends the search, so it is always last and must be reported.
  if (kind === 'unsupported' || kind === 'too_large') return 0;
  return kind === 'no_capacity' ? 1 : 2;
}
