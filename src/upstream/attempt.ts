// One try at one upstream, started by the route. An attempt is pulled: each `next` gives the events
// of one read. It keeps the upstream's timers and bounds, cuts at the stop sequences that the
// upstream was not sent (`cut.ts`), and ends exactly once: with a finished answer or with a failure.

import type { Awaitable } from '../async/awaitable.ts';
import type { Deadlines } from '../core/deadlines.ts';
import {
  type AttemptPhase,
  type FailureClass,
  isFailure,
  type UpstreamFailure,
} from '../core/failure.ts';
import type { GenerationRequest } from '../core/generation.ts';
import type { UpstreamCredential } from '../core/model.ts';
import type { Candidate } from '../core/route.ts';
import type { UpstreamDialect } from '../wire/format.ts';
import { dialectOf } from '../wire/upstream/dialect.ts';
import { createCut } from './cut.ts';
import { charactersAllowed, charactersOf, FLOODED } from './flood-guard.ts';
import { type AnswerSource, type Batch, openSource } from './source.ts';
import { StopSwitch } from './stop.ts';
import type { UpstreamAnswer, UpstreamClient } from './transport.ts';
import { type AttemptTimes, Watch } from './watch.ts';

export type { Batch } from './source.ts';

export type Attempt = {
  readonly candidate: Candidate;
  /** The id of the credential that the upstream was shown. */
  readonly credential: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** What has come of the answer so far, and when. */
  readonly times: () => AttemptTimes;
  /** The events of the next read. After a batch with an `end` there is no further one. */
  readonly next: () => Promise<Batch>;
  /** Stops the upstream; a pending `next` ends with a failure. */
  readonly abort: () => void;
};

export type AttemptOptions = {
  readonly candidate: Candidate;
  /** One of the upstream's. */
  readonly credential: UpstreamCredential;
  readonly request: GenerationRequest;
  readonly maxOutputTokens: number;
  /** Whether to ask the upstream to stream. An attempt that has to cut asks for it in any case. */
  readonly stream: boolean;
  /** Whether a kept connection will not do. */
  readonly newConnection?: boolean | undefined;
};

type CallHeaders = ReturnType<UpstreamDialect['headers']>;

export type StartAttempt = (options: AttemptOptions) => Attempt;

type AttemptDependencies = {
  readonly client: UpstreamClient;
  /** Unix milliseconds, for the record of an attempt. */
  readonly clock: () => number;
  readonly deadlines: Deadlines;
};

export function createAttempts(dependencies: AttemptDependencies): StartAttempt {
  const headers = new WeakMap<UpstreamCredential, CallHeaders>();

  /** A credential is of one upstream, as it is in one state of the catalog. */
  function headersOf(dialect: UpstreamDialect, credential: UpstreamCredential): CallHeaders {
    const known = headers.get(credential) ?? dialect.headers(credential.apiKey);
    headers.set(credential, known);
    return known;
  }

  return (options) => new UpstreamAttempt(dependencies, headersOf, options);
}

class UpstreamAttempt implements Attempt {
  readonly candidate: Candidate;
  readonly credential: string;
  readonly startedAt: number;
  readonly #dialect: UpstreamDialect;
  readonly #deadlines: Deadlines;
  readonly #streams: boolean;
  readonly #cut: ReturnType<typeof createCut>;
  readonly #call = new StopSwitch();
  readonly #watch: Watch;
  readonly #answer: Awaitable<UpstreamAnswer | UpstreamFailure>;
  #source: AnswerSource | undefined;
  #charactersLeft: number;
  #hasEnded = false;

  constructor(
    { client, clock, deadlines }: AttemptDependencies,
    headersOf: (dialect: UpstreamDialect, credential: UpstreamCredential) => CallHeaders,
    { candidate, credential, request, maxOutputTokens, stream, newConnection }: AttemptOptions,
  ) {
    const { upstream, timeouts, model } = candidate;
    const dialect = dialectOf(upstream);
    this.candidate = candidate;
    this.credential = credential.id;
    this.startedAt = clock();
    this.#dialect = dialect;
    this.#deadlines = deadlines;
    this.#cut = createCut(candidate, request);
    // Only a stream can be stopped in the middle, which saves the tokens behind the cut.
    this.#streams = stream || this.#cut !== undefined;
    this.#charactersLeft = charactersAllowed(maxOutputTokens);
    this.#watch = new Watch(timeouts, deadlines, !this.#streams, this.#call);
    const body = dialect.request(request, {
      upstream: upstream.id,
      model: candidate.upstreamModel,
      maxOutputTokens,
      stream: this.#streams,
      reasons: model.features.has('reasoning'),
    });
    this.#answer =
      typeof body === 'string'
        ? client.send({
            upstream,
            path: dialect.path,
            headers: headersOf(dialect, credential),
            body,
            connectMs: timeouts.connectMs,
            newConnection,
            signal: this.#call,
          })
        : body;
  }

  times(): AttemptTimes {
    return this.#watch.times();
  }

  async next(): Promise<Batch> {
    this.#watch.wait();
    if (this.#source === undefined) {
      const opening = openSource(await this.#answer, this.#dialect, this.#deadlines, this.#streams);
      const opened = opening instanceof Promise ? await opening : opening;
      if (isFailure(opened)) return this.#take({ events: [], end: opened });
      this.#source = opened;
    }
    const read = this.#source.read();
    return this.#take(read instanceof Promise ? await read : read);
  }

  abort(): void {
    if (this.#hasEnded) return;
    this.#watch.stop();
    this.#source?.cancel();
    this.#call.abort();
  }

  #take(read: Batch): Batch {
    this.#charactersLeft -= charactersOf(read.events);
    const batch = this.#charactersLeft < 0 ? { events: read.events, end: FLOODED } : read;
    if (hasCome(batch)) this.#watch.read(batch.events);
    const late = batch.end === undefined ? this.#watch.timedOut() : undefined;
    const whole = late === undefined ? batch : { events: batch.events, end: late };
    const passed = this.#cut === undefined ? whole : this.#cut.take(whole);
    return passed.end === undefined ? passed : this.#end(passed, passed.end);
  }

  #end(batch: Batch, how: 'finished' | UpstreamFailure): Batch {
    this.#hasEnded = true;
    this.#watch.stop();
    // A body that was not read to its end would keep its connection and its memory, and an
    // upstream whose answer was cut would go on writing it.
    if (how !== 'finished' || this.#cut?.isStopped() === true) this.#call.abort();
    if (how === 'finished') return batch;
    return { ...batch, end: this.#watch.timedOut() ?? placed(how, this.#watch.phase()) };
  }
}

/** How an attempt fails in which nothing may have been heard of the upstream. */
const UNHEARD: ReadonlySet<FailureClass> = new Set([
  'unreachable',
  'timeout',
  'cut',
  'unsupported',
  'gateway',
]);

/** Whether the upstream was heard: a connection that failed or broke off says nothing. */
function hasCome({ events, end }: Batch): boolean {
  if (end === undefined || end === 'finished' || events.length > 0) return true;
  return end.status !== undefined || !UNHEARD.has(end.class);
}

/** What was never sent has failed nowhere on its way. */
function placed(failure: UpstreamFailure, phase: AttemptPhase): UpstreamFailure {
  return failure.class === 'unsupported' ? failure : { phase, ...failure };
}
