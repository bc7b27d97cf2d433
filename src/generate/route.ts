// Tries the candidates of a request, best first, until one of them delivers. Nothing has been sent
// to the client while this runs, so every failure may still be answered by the next candidate.

import { exhaustion, mayTryNext, type UpstreamFailure } from '../core/failure.ts';
import type { GenerationEvent, GenerationRequest } from '../core/generation.ts';
import type { Candidate } from '../core/route.ts';
import type { Attempt, Batch, StartAttempt } from '../upstream/attempt.ts';
import type { AttemptLog } from './attempt-log.ts';
import { within } from './within.ts';

/** Attempts of one request, however many candidates the catalog names. */
const ATTEMPTS_MAX = 4;

/** The upstream that answers: everything that is left to do is to pass on what it says. */
export type Serving = {
  readonly kind: 'serving';
  readonly attempt: Attempt;
  /** The events so far; pending where a silent upstream was committed to. */
  readonly first: Promise<Batch>;
};

export type Routed =
  | Serving
  | { readonly kind: 'failed'; readonly failure: UpstreamFailure }
  /** Nobody waits any more; `events` are what the attempt had produced by then. */
  | {
      readonly kind: 'cancelled';
      readonly attempt: Attempt;
      readonly events: readonly GenerationEvent[];
    };

export type RouteOptions = {
  readonly startAttempt: StartAttempt;
  readonly candidates: readonly Candidate[];
  readonly request: GenerationRequest;
  readonly maxOutputTokens: number;
  readonly streamUpstream: boolean;
  /** `content`: serve from the first content event on. `end`: serve only a complete answer. */
  readonly until: 'content' | 'end';
  /** Whether an answer that the upstream cut for lack of capacity is one in the client's format. */
  readonly tellsExhaustion: boolean;
  /** After this silence a streamed request commits to the upstream that keeps it waiting. */
  readonly silentCommitMs: number;
  /** Told about each attempt that starts, so that a client that leaves can stop it. */
  readonly onAttempt: (attempt: Attempt) => void;
  /** The client has left, or the server ends what is still running. */
  readonly cancelled: () => boolean;
  /** Where attempts that fail are noted. The one that serves is still under way. */
  readonly attempts: AttemptLog;
};

export async function route(options: RouteOptions): Promise<Routed> {
  let failure: UpstreamFailure = { class: 'unreachable', detail: 'no upstream serves this model' };
  const waiting = options.candidates.slice(0, ATTEMPTS_MAX);
  let mayReconnect = true;
  for (let candidate = waiting.shift(); candidate !== undefined; candidate = waiting.shift()) {
    const attempt = options.startAttempt({
      candidate,
      request: options.request,
      maxOutputTokens: options.maxOutputTokens,
      stream: options.streamUpstream,
    });
    options.onAttempt(attempt);
    const first = readUntil(attempt, options);
    const ready =
      options.until === 'end'
        ? await first
        : ((await within(options.silentCommitMs, first)) ?? 'silent');
    if (options.cancelled()) {
      options.attempts.add(attempt, { class: 'cut', detail: 'the request was given up' });
      return { kind: 'cancelled', attempt, events: ready === 'silent' ? [] : ready.events };
    }
    if (ready === 'silent') return { kind: 'serving', attempt, first };
    if (ready.end === undefined || ready.end === 'finished') {
      return { kind: 'serving', attempt, first };
    }
    failure = ready.end;
    options.attempts.add(attempt, failure);
    if (!mayTryNext(failure)) break;
    // A kept connection that its upstream closes just as it is used says nothing about the
    // upstream: it is asked once more, on a new one.
    if (failure.class === 'unreachable' && mayReconnect) {
      mayReconnect = false;
      waiting.unshift(candidate);
    }
  }
  return { kind: 'failed', failure };
}

/** Collects batches until there is content (or a finish: an empty answer is one), or to the end. */
async function readUntil(attempt: Attempt, options: RouteOptions): Promise<Batch> {
  const events: GenerationEvent[] = [];
  for (;;) {
    const batch = await attempt.next();
    for (const event of batch.events) events.push(event);
    // A stream commits with its first content, whatever follows it in the same read.
    const failure = exhaustion(events, options.until === 'content' || options.tellsExhaustion);
    if (failure !== undefined) {
      attempt.abort();
      return { events, end: failure };
    }
    if (batch.end !== undefined) return { events, end: batch.end };
    if (options.until === 'content' && events.some((event) => event.kind !== 'usage'))
      return { events };
  }
}
