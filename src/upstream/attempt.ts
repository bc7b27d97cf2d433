// One try at one upstream, started by the route. An attempt is pulled: each `next` gives the events
// of one read. It keeps the upstream's timers and bounds, cuts at the stop sequences that the
// upstream was not sent (`cut.ts`), and ends exactly once: with a finished answer or with a failure.

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
import { createFloodGuard } from './flood-guard.ts';
import { type AnswerSource, type Batch, openSource } from './source.ts';
import { StopSwitch } from './stop.ts';
import type { UpstreamClient } from './transport.ts';
import { type AttemptTimes, startWatch } from './watch.ts';

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
  readonly newConnection?: boolean;
};

type CallHeaders = ReturnType<UpstreamDialect['headers']>;

export type StartAttempt = (options: AttemptOptions) => Attempt;

export function createAttempts(dependencies: {
  readonly client: UpstreamClient;
  /** Unix milliseconds, for the record of an attempt. */
  readonly clock: () => number;
  readonly deadlines: Deadlines;
}): StartAttempt {
  const { client, clock, deadlines } = dependencies;
  const headers = new WeakMap<UpstreamCredential, CallHeaders>();

  /** A credential is of one upstream, as it is in one state of the catalog. */
  function headersOf(dialect: UpstreamDialect, credential: UpstreamCredential): CallHeaders {
    const known = headers.get(credential) ?? dialect.headers(credential.apiKey);
    headers.set(credential, known);
    return known;
  }

  return ({ candidate, credential, request, maxOutputTokens, stream, newConnection }) => {
    const { upstream, timeouts } = candidate;
    const stop = new StopSwitch();
    const dialect = dialectOf(upstream);
    const cut = createCut(candidate, request);
    const guard = createFloodGuard(maxOutputTokens);
    // Only a stream can be stopped in the middle, which saves the tokens behind the cut.
    const streams = stream || cut !== undefined;
    const watch = startWatch({
      timeouts,
      deadlines,
      onePiece: !streams,
      onTimeout: () => stop.abort(),
    });
    const body = dialect.request(request, {
      upstream: upstream.id,
      model: candidate.upstreamModel,
      maxOutputTokens,
      stream: streams,
      reasons: reasons(candidate),
    });
    const answer =
      typeof body === 'string'
        ? client.send({
            upstream,
            path: dialect.path,
            headers: headersOf(dialect, credential),
            body,
            connectMs: timeouts.connectMs,
            newConnection,
            signal: stop,
          })
        : body;
    let source: AnswerSource | undefined;
    let ended = false;

    const open = async (): Promise<Batch> => {
      const opened = await openSource(await answer, dialect, deadlines, streams);
      if (isFailure(opened)) return { events: [], end: opened };
      source = opened;
      return opened.read();
    };

    const take = (read: Batch): Batch => {
      const batch = guard(read);
      if (hasCome(batch)) watch.read(batch.events);
      const late = batch.end === undefined ? watch.timedOut() : undefined;
      const whole = late === undefined ? batch : { events: batch.events, end: late };
      const passed = cut === undefined ? whole : cut.take(whole);
      return passed.end === undefined ? passed : end(passed);
    };

    const end = (batch: Batch): Batch => {
      const { end: how = 'finished' } = batch;
      ended = true;
      watch.stop();
      // A body that was not read to its end would keep its connection and its memory, and an
      // upstream whose answer was cut would go on writing it.
      if (how !== 'finished' || cut?.isStopped() === true) stop.abort();
      if (how === 'finished') return batch;
      return { ...batch, end: watch.timedOut() ?? placed(how, watch.phase()) };
    };

    return {
      candidate,
      credential: credential.id,
      startedAt: clock(),
      times: watch.times,
      next() {
        watch.wait();
        return (source === undefined ? open() : source.read()).then(take);
      },
      abort() {
        if (ended) return;
        watch.stop();
        source?.cancel();
        stop.abort();
      },
    };
  };
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

function reasons({ model }: Candidate): boolean {
  return model.features.has('reasoning');
}
