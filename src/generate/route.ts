// Tries the candidates of a request, best first, until one of them delivers. Nothing has been sent
// to the client while this runs, so every failure may still be answered by the next candidate.

import { exhaustion, mayTryNext, type UpstreamFailure } from '../core/failure.ts';
import type { GenerationEvent, GenerationRequest } from '../core/generation.ts';
import type { Candidate } from '../core/route.ts';
import type { Attempt, AttemptOptions, Batch } from '../upstream/attempt.ts';
import type { AttemptLog } from './attempt-log.ts';
import { within } from './within.ts';

/** Attempts of one request, however many candidates the catalog names. */
const ATTEMPTS_MAX = 4;

/** The upstream that answers: everything that is left to do is to pass on what it says. */
export type Serving<A extends Attempt> = {
  readonly kind: 'serving';
  readonly attempt: A;
  /** The events so far; pending where a silent upstream was committed to. */
  readonly first: Promise<Batch>;
};

export type Routed<A extends Attempt> =
  | Serving<A>
  | { readonly kind: 'failed'; readonly failure: UpstreamFailure }
  /** Nobody waits any more. `first` is as above; its `end` says whether there is more to read. */
  | { readonly kind: 'cancelled'; readonly attempt: A; readonly first: Promise<Batch> };

export type RouteOptions<A extends Attempt> = {
  /** Whoever makes them also stops them when the client leaves. */
  readonly startAttempt: (options: AttemptOptions) => A;
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
  /** The client has left, or the server ends what is still running. */
  readonly cancelled: () => boolean;
  /** Where attempts that fail are noted. The one that serves is still under way. */
  readonly attempts: AttemptLog;
};

export async function route<A extends Attempt>(options: RouteOptions<A>): Promise<Routed<A>> {
  let failure: UpstreamFailure = { class: 'unreachable', detail: 'no upstream serves this model' };
  const waiting = options.candidates.slice(0, ATTEMPTS_MAX);
  let mayReconnect = true;
  for (let candidate = waiting.shift(); candidate !== undefined; candidate = waiting.shift()) {
    const attempt = options.startAttempt({
      candidate,
      credential: candidate.upstream.credentials[0],
      request: options.request,
      maxOutputTokens: options.maxOutputTokens,
      stream: options.streamUpstream,
    });
    const first = readUntil(attempt, options);
    const ready =
      options.until === 'end'
        ? await first
        : ((await within(options.silentCommitMs, first)) ?? 'silent');
    if (options.cancelled()) {
      options.attempts.add(attempt, { class: 'cut', detail: 'the request was given up' });
      return { kind: 'cancelled', attempt, first };
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
async function readUntil(
  attempt: Attempt,
  options: Pick<RouteOptions<Attempt>, 'until' | 'tellsExhaustion'>,
): Promise<Batch> {
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
