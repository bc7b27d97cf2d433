// One attempt at one upstream, started by the route and read by pulling: each `next` returns the
// events of one read. It enforces the upstream's timers and bounds, cuts at stop sequences
// (`cut.ts`), and ends exactly once, with a finished answer or a failure.

import type { Awaitable } from '../async/awaitable.ts';
import { cacheKeyOf } from '../core/conversation.ts';
import type { Deadlines } from '../core/deadlines.ts';
import { type FailureClass, isFailure, type UpstreamFailure } from '../core/failure.ts';
import type { GenerationEvent, GenerationRequest, Turn } from '../core/generation.ts';
import type { UpstreamCredential } from '../core/model.ts';
import type { UpstreamProfile } from '../core/profile.ts';
import type { Candidate } from '../core/route.ts';
import type { TraceHeaders } from '../core/trace.ts';
import type { UpstreamDialect } from '../wire/format.ts';
import { hasImageAddress } from '../wire/image-type.ts';
import { chosenParameter } from '../wire/upstream/chosen.ts';
import { dialectOf } from '../wire/upstream/dialect.ts';
import { hideWords } from '../wire/upstream/hide-words.ts';
import { secretsOf } from './authorize.ts';
import { createCut } from './cut.ts';
import { charactersAllowed, charactersOf, FLOODED } from './flood-guard.ts';
import { type AnswerSource, type Batch, openSource } from './source.ts';
import { StopSwitch } from './stop.ts';
import type { UpstreamAnswer, UpstreamClient } from './transport.ts';
import { type AttemptTimes, Watch } from './watch.ts';

export type { Batch } from './source.ts';

export type Attempt = {
  readonly candidate: Candidate;
  /** The id of the credential that was sent to the upstream. */
  readonly credential: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** How far the answer has come, and when. */
  readonly times: () => AttemptTimes;
  /** The events of the next read. A batch with an `end` is the last one. */
  readonly next: () => Promise<Batch>;
  /** Aborts the call; a pending `next` ends with a failure. */
  readonly abort: () => void;
  /** Whether the upstream refused earlier thinking, and was asked once more without it. */
  readonly droppedThinking?: () => boolean;
  /** What a stream has said so far; undefined for a whole answer. */
  readonly soFar?: () => AnswerSource['soFar'];
};

export type AttemptOptions = {
  readonly candidate: Candidate;
  /** One of the upstream's credentials. */
  readonly credential: UpstreamCredential;
  readonly request: GenerationRequest;
  readonly maxOutputTokens: number;
  /** Whether to request a stream. An attempt that alone has to cut requests one. */
  readonly stream: boolean;
  /** Whether to use a new connection instead of a kept-alive one. */
  readonly newConnection?: boolean | undefined;
  /** Our count of the prompt; absent for requests of our own. */
  readonly promptTokens?: number | undefined;
  /** The span that the upstream's spans belong to. */
  readonly trace?: TraceHeaders | undefined;
};

type CallHeaders = ReturnType<UpstreamDialect['headers']>;

type HeadersOf = (
  dialect: UpstreamDialect,
  candidate: Candidate,
  credential: UpstreamCredential,
) => CallHeaders;

export type StartAttempt = (options: AttemptOptions) => Attempt;

type AttemptDependencies = {
  readonly client: UpstreamClient;
  /** Unix milliseconds, for the record of an attempt. */
  readonly clock: () => number;
  readonly deadlines: Deadlines;
  /** Receives the last events of each answer that its upstream has finished, and that was not cut. */
  readonly onAnswer?: (
    asked: AttemptOptions,
    streamed: boolean,
    last: readonly GenerationEvent[],
  ) => void;
};

export function createAttempts(dependencies: AttemptDependencies): StartAttempt {
  const headers = new WeakMap<UpstreamProfile, WeakMap<UpstreamCredential, CallHeaders>>();

  /** Caches headers by profile and credential, which belong to one state of the catalog. */
  const headersOf: HeadersOf = (dialect, { profile }, credential) => {
    const ofProfile = headers.get(profile) ?? new WeakMap<UpstreamCredential, CallHeaders>();
    headers.set(profile, ofProfile);
    const known = ofProfile.get(credential) ?? dialect.headers(credential.apiKey);
    ofProfile.set(credential, known);
    return known;
  };

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
  readonly #client: AttemptDependencies['client'];
  readonly #headersOf: HeadersOf;
  readonly #options: AttemptOptions;
  readonly #onAnswer: AttemptDependencies['onAnswer'];
  #answer: Awaitable<UpstreamAnswer | UpstreamFailure>;
  /** The request, as long as it may be sent once more without thinking of the upstream's. */
  #signed: GenerationRequest | undefined;
  #hasDropped = false;
  #source: AnswerSource | undefined;
  #charactersLeft: number;
  #hasEnded = false;

  constructor(
    { client, clock, deadlines, onAnswer }: AttemptDependencies,
    headersOf: HeadersOf,
    options: AttemptOptions,
  ) {
    const { candidate, credential, request, maxOutputTokens, stream } = options;
    const dialect = dialectOf(candidate.profile);
    this.candidate = candidate;
    this.credential = credential.id;
    this.startedAt = clock();
    this.#dialect = dialect;
    this.#deadlines = deadlines;
    this.#cut = createCut(candidate, request);
    this.#streams = stream || this.#cut?.needsStream === true;
    this.#charactersLeft = charactersAllowed(maxOutputTokens);
    this.#watch = new Watch(candidate.timeouts, deadlines, !this.#streams, this.#call);
    this.#client = client;
    this.#headersOf = headersOf;
    this.#options = options;
    this.#onAnswer = onAnswer;
    const isSigned = request.turns.some((turn) => turn.role === 'assistant' && turn.signed);
    this.#signed = isSigned ? request : undefined;
    this.#answer = this.#send(request);
  }

  droppedThinking(): boolean {
    return this.#hasDropped;
  }

  soFar(): AnswerSource['soFar'] {
    return this.#source?.soFar;
  }

  times(): AttemptTimes {
    return this.#watch.times();
  }

  async next(): Promise<Batch> {
    this.#watch.wait();
    if (this.#source === undefined) {
      const opening = openSource(await this.#answer, this.#dialect, this.#deadlines, this.#streams);
      const opened = opening instanceof Promise ? await opening : opening;
      if (isFailure(opened)) {
        return this.#dropThinking(opened) ? this.next() : this.#take({ events: [], end: opened });
      }
      this.#source = opened;
    }
    const reading = this.#source.read();
    const read = reading instanceof Promise ? await reading : reading;
    const { events, end = 'finished' } = read;
    // What has been passed on cannot be taken back.
    if (events.length > 0) this.#signed = undefined;
    return end !== 'finished' && this.#dropThinking(end) ? this.next() : this.#take(read);
  }

  abort(): void {
    if (this.#hasEnded) return;
    this.#watch.stop();
    this.#source?.cancel();
    this.#call.abort();
  }

  #send(request: GenerationRequest): Awaitable<UpstreamAnswer | UpstreamFailure> {
    const { candidate, credential, maxOutputTokens, newConnection, trace } = this.#options;
    const { upstream, profile, timeouts, model, affinity } = candidate;
    const isPublic = profile.imageUrls === 'public';
    const sendsKey = profile.cacheKey === 'send' && affinity !== undefined;
    const call = {
      upstream: upstream.id,
      model: candidate.upstreamModel,
      maxOutputTokens,
      stream: this.#streams,
      reasons: model.features.has('reasoning'),
      cacheKey: sendsKey ? cacheKeyOf(affinity) : undefined,
    };
    const body = this.#dialect.request(request, call);
    if (typeof body !== 'string') return body;
    return this.#client.send({
      upstream,
      path: this.#dialect.path(call),
      headers: this.#headersOf(this.#dialect, candidate, credential),
      body,
      connectMs: timeouts.connectMs,
      newConnection,
      trace,
      ...(isPublic && hasImageAddress(request.turns) && { isForPublic: true }),
      signal: this.#call,
    });
  }

  /** Asks once more without the thinking that was refused; whether it did. */
  #dropThinking({ refusesThinking }: UpstreamFailure): boolean {
    const signed = this.#signed;
    if (refusesThinking !== true || signed === undefined) return false;
    this.#signed = undefined;
    this.#hasDropped = true;
    this.#source?.cancel();
    this.#source = undefined;
    this.#answer = this.#send({ ...signed, turns: signed.turns.map(withoutSigned) });
    return true;
  }

  #take(read: Batch): Batch {
    this.#charactersLeft -= charactersOf(read.events);
    const batch = this.#charactersLeft < 0 ? { events: read.events, end: FLOODED } : read;
    if (hasCome(batch)) this.#watch.read(batch.events);
    const late = batch.end === undefined ? this.#watch.timedOut() : undefined;
    const whole = late === undefined ? batch : this.#endLate(batch, late);
    const passed = this.#cut === undefined ? whole : this.#cut.take(whole);
    return passed.end === undefined ? passed : this.#end(passed, passed.end);
  }

  /** A timer has expired. The answer is complete if its finish reason has been read. */
  #endLate({ events }: Batch, failure: UpstreamFailure): Batch {
    const { events: last, end = failure } = this.#source?.end?.() ?? { events: [] };
    return { events: [...events, ...last], end };
  }

  #end(batch: Batch, how: 'finished' | UpstreamFailure): Batch {
    this.#hasEnded = true;
    this.#watch.stop();
    // An unread body would keep its connection and memory, and an upstream whose answer was cut
    // would continue to write it.
    if (how !== 'finished' || this.#cut?.isStopped() === true) this.#call.abort();
    else if (batch.beyond === undefined) {
      this.#onAnswer?.(this.#options, this.#streams, batch.events);
    }
    if (how === 'finished') return batch;
    const failure = this.#watch.timedOut() ?? how;
    // A request that was never sent has no phase.
    const placed =
      failure.class === 'unsupported' ? failure : { phase: this.#watch.phase(), ...failure };
    return { ...batch, end: this.#attributed(placed) };
  }

  /** Attributed, and without what the caller wrote and what authenticated the request. */
  #attributed(failure: UpstreamFailure): UpstreamFailure {
    if (failure.said === undefined) return failure;
    const { request, credential, candidate } = this.#options;
    const isRefused = failure.class === 'bad_request' || failure.class === 'mismatch';
    const chosen = isRefused
      ? chosenParameter(failure.said, request, candidate.profile)
      : undefined;
    const secrets = secretsOf(candidate.upstream, credential);
    const { upstreamModel } = candidate;
    const said = hideWords(failure.said, { request, secrets, upstreamModel });
    return { ...failure, ...(chosen !== undefined && { class: 'mismatch', chosen }), said };
  }
}

function withoutSigned(turn: Turn): Turn {
  if (turn.role !== 'assistant') return turn;
  const { signed: _, ...rest } = turn;
  return rest;
}

/** Failure classes in which the upstream may not have responded at all. */
const UNHEARD: ReadonlySet<FailureClass> = new Set([
  'unreachable',
  'timeout',
  'cut',
  'unsupported',
  'gateway',
]);

/** Whether the upstream responded: a failed or broken connection does not count. */
function hasCome({ events, end }: Batch): boolean {
  if (end === undefined || end === 'finished' || events.length > 0) return true;
  return end.status !== undefined || !UNHEARD.has(end.class);
}
