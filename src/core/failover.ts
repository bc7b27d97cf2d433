// Decides what follows a failed attempt: retry the same candidate, try another one, or give up. The
// route calls it after each failure, before any content has been delivered; after that nothing can be
// retried. The failure classes and what each allows are in `failure.ts`.

import { unreachable } from './assert.ts';
import { FAILURES, type FailureClass, type UpstreamFailure } from './failure.ts';

/**
 * Attempts of one request in which a model may be tried more than once. After them each model that
 * has not been tried gets one attempt: however many upstreams the requested model has, their outage
 * must not use up the attempts of its fallbacks.
 */
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
  /** The next candidate of a model that has not been tried. */
  | { readonly kind: 'next_model' }
  | { readonly kind: 'stop' };

/** How a request stands when one of its attempts has failed. */
export type Situation = {
  /** Attempts so far, the failed one included. A candidate that was skipped is none. */
  readonly attempts: number;
  /** Whether the candidate that failed had been tried before. */
  readonly repeated: boolean;
  readonly hasOtherCredential: boolean;
  readonly hasNext: boolean;
  /** Whether one of the next candidates runs a model that has not been tried. */
  readonly hasNewModel: boolean;
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

/** The step once the attempts that models share are used up. */
function decideLateStep(failure: UpstreamFailure, situation: Situation): Step {
  // The upstream closed an idle connection at the same moment: it has not seen the request.
  const isUnseen = failure.onKeptConnection === true && !situation.repeated;
  if (isUnseen && situation.mayRepeat) return { kind: 'again', afterMs: 0 };
  return situation.hasNewModel ? NEXT_MODEL : STOP;
}

/** How long to wait before the same candidate is tried again; undefined where it is not. */
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
