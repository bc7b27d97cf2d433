// One try at one upstream. An attempt is pulled: each `next` gives the events of one read. It keeps
// the upstream's timers, and ends exactly once: with a finished answer or with a failure.

import type { Deadline, Deadlines } from '../core/deadlines.ts';
import type { UpstreamFailure } from '../core/failure.ts';
import { answerEvents, type GenerationEvent, type GenerationRequest } from '../core/generation.ts';
import type { UpstreamTimeouts } from '../core/model.ts';
import type { Candidate } from '../core/route.ts';
import { isFailure, type StreamDecoder, type UpstreamDialect } from '../wire/format.ts';
import { dialectOf } from '../wire/upstream/dialect.ts';
import type { ByteReader, UpstreamAnswer, UpstreamClient } from './client.ts';

/** How long a finished upstream may take to end its answer before it is cut off. */
const DRAIN_MS = 1_000;

/**
 * An upstream that ignores the bound that it was told would be read for ever, at our cost. No
 * tokenizer makes tokens of this length on average, so nothing honest is cut.
 */
const CHARACTERS_PER_TOKEN = 16;
const CHARACTERS_SLACK = 65_536;
const FLOODED: UpstreamFailure = {
  class: 'malformed',
  detail: 'the upstream sent far more than the bound that it was told',
};

export type Batch = {
  readonly events: readonly GenerationEvent[];
  /** Absent while more may come. */
  readonly end?: 'finished' | UpstreamFailure;
};

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
  readonly request: GenerationRequest;
  readonly maxOutputTokens: number;
  readonly stream: boolean;
};

export type StartAttempt = (options: AttemptOptions) => Attempt;

type Clockwork = { readonly clock: () => number; readonly deadlines: Deadlines };

export function createAttempts(
  dependencies: Clockwork & { readonly client: UpstreamClient },
): StartAttempt {
  const { client, clock } = dependencies;
  return ({ candidate, request, maxOutputTokens, stream }) => {
    const { upstream } = candidate;
    const controller = new AbortController();
    const watch = startWatch(upstream.timeouts, dependencies, () => controller.abort());
    const dialect = dialectOf(upstream);
    const body = dialect.request(request, {
      upstream: upstream.id,
      model: candidate.upstreamModel,
      maxOutputTokens,
      stream,
      reasons: candidate.model.features.has('reasoning'),
    });
    const answer =
      typeof body === 'string'
        ? client.send({
            upstream,
            path: dialect.path,
            headers: dialect.headers(upstream.dialect === 'demo' ? '' : upstream.apiKey),
            body,
            signal: controller.signal,
          })
        : body;
    let source: EventSource | undefined;
    let ended = false;
    let charactersLeft = maxOutputTokens * CHARACTERS_PER_TOKEN + CHARACTERS_SLACK;

    const end = (batch: Batch): Batch => {
      ended = true;
      watch.stop();
      const timedOut = watch.timedOut();
      // A body that was not read to its end would keep its connection and its memory.
      if (batch.end !== 'finished') controller.abort();
      if (timedOut === undefined || batch.end === 'finished') return batch;
      return { events: batch.events, end: { class: 'timeout', detail: timedOut } };
    };

    return {
      candidate,
      startedAt: clock(),
      async next() {
        if (source === undefined) {
          const opened = await openSource(await answer, dialect, dependencies, stream);
          if (isSourceFailure(opened)) return end({ events: [], end: opened });
          source = opened;
        }
        const batch = await source.read();
        watch.touch();
        for (const event of batch.events) charactersLeft -= characters(event);
        if (charactersLeft < 0) return end({ events: batch.events, end: FLOODED });
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

function characters(event: GenerationEvent): number {
  switch (event.kind) {
    case 'reasoning-delta':
    case 'text-delta':
      return event.text.length;
    case 'tool-delta':
      return event.json.length;
    default:
      return 0;
  }
}

/** Where events come from: a stream that is read piece by piece, or an answer that came whole. */
type EventSource = { readonly read: () => Promise<Batch>; readonly cancel: () => void };

function isSourceFailure(source: EventSource | UpstreamFailure): source is UpstreamFailure {
  return 'class' in source;
}

async function openSource(
  answer: UpstreamAnswer | UpstreamFailure,
  dialect: UpstreamDialect,
  clockwork: Clockwork,
  stream: boolean,
): Promise<EventSource | UpstreamFailure> {
  if ('class' in answer) return answer;
  if (answer.status >= 300 && answer.status < 400) {
    return { class: 'server_error', detail: 'the upstream redirects', status: answer.status };
  }
  if (answer.status !== 200) {
    const body = await answer.text();
    return dialect.failure(answer.status, typeof body === 'string' ? body : '');
  }
  // Some caches and proxies answer a stream request with plain JSON.
  if (!stream || answer.isJson) return wholeSource(answer, dialect);
  const reader = answer.reader();
  if (reader === undefined) return { class: 'cut', detail: 'the answer has no body' };
  return streamSource(reader, dialect, clockwork);
}

function wholeSource(answer: UpstreamAnswer, dialect: UpstreamDialect): EventSource {
  return {
    async read() {
      const body = await answer.text();
      if (typeof body !== 'string') return { events: [], end: body };
      const whole = dialect.response(body);
      if (isFailure(whole)) return { events: [], end: whole };
      return { events: answerEvents(whole), end: 'finished' };
    },
    cancel() {},
  };
}

function streamSource(
  reader: ByteReader,
  dialect: UpstreamDialect,
  clockwork: Clockwork,
): EventSource {
  let events: GenerationEvent[] = [];
  const decoder: StreamDecoder = dialect.stream((event) => events.push(event));
  const taken = (): GenerationEvent[] => {
    const batch = events;
    events = [];
    return batch;
  };
  return {
    async read() {
      let chunk: Awaited<ReturnType<typeof reader.read>>;
      try {
        chunk = await reader.read();
      } catch {
        // Some servers reset where others close; after a finish reason both are an end.
        chunk = { done: true };
      }
      if (chunk.done || chunk.value === undefined) {
        const failure = decoder.end();
        return { events: taken(), end: failure ?? 'finished' };
      }
      const failure = decoder.feed(chunk.value);
      const batch = taken();
      if (failure !== undefined) return { events: batch, end: failure };
      if (batch.at(-1)?.kind !== 'finish') return { events: batch };
      drain(reader, clockwork);
      return { events: batch, end: 'finished' };
    },
    cancel: () => cancel(reader),
  };
}

function cancel(reader: ByteReader): void {
  // The reader may already be gone with its connection; there is nobody left to tell.
  reader.cancel().catch(() => {});
}

/**
 * Reads what may still come after the last event, so that the connection can be used again. An
 * upstream that keeps it open costs neither the client nor us anything.
 */
function drain(reader: ByteReader, { clock, deadlines }: Clockwork): void {
  const deadline: Deadline = { at: clock() + DRAIN_MS, fire: () => cancel(reader) };
  deadlines.add(deadline);
  const read = async (): Promise<void> => {
    while (!(await reader.read()).done);
  };
  read()
    .catch(() => cancel(reader))
    .finally(() => deadlines.remove(deadline));
}

/** The upstream's timers as one deadline that moves with every read. */
function startWatch(
  timeouts: UpstreamTimeouts,
  { clock, deadlines }: Clockwork,
  onTimeout: () => void,
) {
  const startedAt = clock();
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
      deadline.at = Math.min(clock() + timeouts.idleMs, totalAt);
    },
    stop: () => deadlines.remove(deadline),
    timedOut: (): string | undefined => reason,
  };
}
