// One try at one upstream, started by the route. An attempt is pulled: each `next` gives the events
// of one read. It keeps the upstream's timers and bounds, cuts at the stop sequences that the
// upstream was not told, and ends exactly once: with a finished answer or with a failure.

import type { Deadline, Deadlines } from '../core/deadlines.ts';
import { isFailure } from '../core/failure.ts';
import type { GenerationRequest } from '../core/generation.ts';
import type { Credential, UpstreamTimeouts } from '../core/model.ts';
import type { Candidate } from '../core/route.ts';
import { createStopCutter, type StopCutter, splitStops } from '../core/stop.ts';
import { dialectOf } from '../wire/upstream/dialect.ts';
import type { UpstreamClient } from './client.ts';
import { createFloodGuard } from './flood-guard.ts';
import { type Batch, type EventSource, openSource } from './source.ts';

export type { Batch } from './source.ts';

export type Attempt = {
  readonly candidate: Candidate;
  readonly startedAt: number;
  /** The events of the next read. After a batch with an `end` there is no further one. */
  readonly next: () => Promise<Batch>;
  /** Stops the upstream; a pending `next` ends with a failure. */
  readonly abort: () => void;
};

export type AttemptOptions = {
  readonly candidate: Candidate;
  /** One of the upstream's. */
  readonly credential: Credential;
  readonly request: GenerationRequest;
  readonly maxOutputTokens: number;
  /** Whether to ask the upstream to stream. An attempt that has to cut asks for it in any case. */
  readonly stream: boolean;
};

export type StartAttempt = (options: AttemptOptions) => Attempt;

export function createAttempts(dependencies: {
  readonly client: UpstreamClient;
  /** Unix milliseconds, for the record of an attempt. */
  readonly clock: () => number;
  readonly deadlines: Deadlines;
}): StartAttempt {
  const { client, clock, deadlines } = dependencies;
  return ({ candidate, credential, request, maxOutputTokens, stream }) => {
    const { upstream } = candidate;
    const controller = new AbortController();
    const watch = startWatch(candidate.timeouts, deadlines, () => controller.abort());
    const dialect = dialectOf(upstream);
    const cutter = createCutter(candidate, request);
    const guard = createFloodGuard(maxOutputTokens);
    // Only a stream can be stopped in the middle, which saves the tokens behind the cut.
    const streams = stream || cutter !== undefined;
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
            headers: dialect.headers(credential.apiKey),
            body,
            connectMs: candidate.timeouts.connectMs,
            signal: controller.signal,
          })
        : body;
    let source: EventSource | undefined;
    let ended = false;

    const end = (batch: Batch): Batch => {
      ended = true;
      watch.stop();
      const timedOut = watch.timedOut();
      // A body that was not read to its end would keep its connection and its memory, and an
      // upstream whose answer was cut would go on writing it.
      if (batch.end !== 'finished' || cutter?.hasCut() === true) controller.abort();
      if (timedOut === undefined || batch.end === 'finished') return batch;
      return { events: batch.events, end: { class: 'timeout', detail: timedOut } };
    };

    return {
      candidate,
      startedAt: clock(),
      async next() {
        if (source === undefined) {
          const opened = await openSource(await answer, dialect, deadlines, streams);
          if (isFailure(opened)) return end({ events: [], end: opened });
          source = opened;
        }
        const read = guard(await source.read());
        watch.touch();
        const batch = cutter === undefined ? read : cutBatch(cutter, read);
        return batch.end === undefined ? batch : end(batch);
      },
      abort() {
        if (ended) return;
        watch.stop();
        source?.cancel();
        controller.abort();
      },
    };
  };
}

function reasons({ model }: Candidate): boolean {
  return model.features.has('reasoning');
}

/** Cuts at the stop sequences that this upstream is not told; undefined where it is told all. */
function createCutter(candidate: Candidate, request: GenerationRequest): StopCutter | undefined {
  const { upstream } = candidate;
  // The demonstration, inside the program, takes any number of them.
  if (upstream.dialect === 'demo') return undefined;
  const { cut } = splitStops(request.stop, upstream.profile, reasons(candidate));
  return cut.length === 0 ? undefined : createStopCutter(cut);
}

/**
 * A cut answer has no usage: most upstreams would have told it only at the end, and one that had
 * sent everything in this very read told of text that is not delivered. So our own count of what is
 * delivered is charged, however the bytes fell.
 */
function cutBatch(cutter: StopCutter, { events, end }: Batch): Batch {
  const passed = events.flatMap(cutter.push);
  if (end !== undefined) passed.push(...cutter.end());
  if (cutter.hasCut()) return { events: passed, end: 'finished' };
  return end === undefined ? { events: passed } : { events: passed, end };
}

/** The upstream's timers as one deadline that moves with every read. */
function startWatch(timeouts: UpstreamTimeouts, deadlines: Deadlines, onTimeout: () => void) {
  const startedAt = deadlines.now();
  const totalAt = startedAt + timeouts.totalMs;
  let read = false;
  let reason: string | undefined;
  const deadline: Deadline = {
    at: Math.min(startedAt + timeouts.firstByteMs, totalAt),
    fire() {
      if (deadline.at === totalAt) reason = 'the answer took too long in all';
      else reason = read ? 'the stream fell silent' : 'no first byte in time';
      onTimeout();
    },
  };
  deadlines.add(deadline);
  return {
    touch() {
      read = true;
      deadline.at = Math.min(deadlines.now() + timeouts.idleMs, totalAt);
    },
    stop: () => deadlines.remove(deadline),
    timedOut: (): string | undefined => reason,
  };
}
