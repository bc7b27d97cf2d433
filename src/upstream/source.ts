// The source of an attempt's events: an event stream read piece by piece, or a whole answer. Only
// the attempt calls it, and keeps the timers. A stream that ends without the dialect's end marker
// is a failure.

import type { Awaitable } from '../async/awaitable.ts';
import type { Deadlines } from '../core/deadlines.ts';
import { isFailure, type UpstreamFailure } from '../core/failure.ts';
import { answerEvents } from '../core/fold.ts';
import type { GenerationEvent } from '../core/generation.ts';
import type { StreamDecoder, UpstreamDialect } from '../wire/format.ts';
import { SILENT_BYTES_MAX } from '../wire/upstream/limits.ts';
import { isAnswer } from './content.ts';
import { readText } from './read-text.ts';
import type { ByteReader, Read, UpstreamAnswer } from './transport.ts';

/** How long a finished upstream may take to end its body before it is aborted. */
const DRAIN_MS = 1_000;

/**
 * How long the usage and the end may take after a finish reason. Some servers keep the connection
 * open instead, or send comments and pings, and clients with a complete answer would wait.
 */
const FINISHING_MS = 2_000;

const SILENT_FLOOD: UpstreamFailure = {
  class: 'malformed',
  detail: `the upstream sent more than ${SILENT_BYTES_MAX} bytes without an event`,
};

export type Batch = {
  readonly events: readonly GenerationEvent[];
  /** Events after the end of the answer: not passed on, but their usage counts. */
  readonly beyond?: readonly GenerationEvent[];
  /** The gateway stopped the upstream at a stop sequence, before its report. */
  readonly stopped?: true;
  /** Absent while more may come. */
  readonly end?: 'finished' | UpstreamFailure;
};

export type AnswerSource = {
  readonly read: () => Awaitable<Batch>;
  readonly cancel: () => void;
  /** What a stream has said so far; absent for a whole answer. */
  readonly soFar?: Pick<StreamDecoder, 'serviceTier' | 'usageSoFar' | 'hasBegun'>;
  /** Of a stream: ends it where it is. After a finish reason the answer is complete. */
  readonly end?: () => Batch;
};

/** Opens an upstream's answer; `stream` is what was requested. */
export function openSource(
  answer: UpstreamAnswer | UpstreamFailure,
  dialect: UpstreamDialect,
  deadlines: Deadlines,
  stream: boolean,
): Awaitable<AnswerSource | UpstreamFailure> {
  if (isFailure(answer)) return answer;
  if (answer.status >= 300 && answer.status < 400) {
    return { class: 'mismatch', detail: 'the upstream redirects', status: answer.status };
  }
  // Some frameworks answer every POST with 201.
  if (answer.status !== 200 && answer.status !== 201) return readFailure(answer, dialect);
  // Some caches and proxies answer a stream request with plain JSON.
  if (!stream || answer.isJson) return new WholeSource(answer, dialect);
  const reader = answer.reader();
  if (reader === undefined) return { class: 'cut', detail: 'the answer has no body' };
  return new StreamSource(reader, dialect, deadlines);
}

async function readFailure(
  answer: UpstreamAnswer,
  dialect: UpstreamDialect,
): Promise<UpstreamFailure> {
  const body = await answer.text();
  const failure = dialect.failure(answer.status, typeof body === 'string' ? body : '');
  const { retryAfterMs } = answer;
  return retryAfterMs === undefined ? failure : { ...failure, retryAfterMs };
}

class WholeSource implements AnswerSource {
  readonly #answer: UpstreamAnswer;
  readonly #dialect: UpstreamDialect;

  constructor(answer: UpstreamAnswer, dialect: UpstreamDialect) {
    this.#answer = answer;
    this.#dialect = dialect;
  }

  read(): Awaitable<Batch> {
    const body = this.#answer.text();
    return body instanceof Promise ? body.then((late) => this.#take(late)) : this.#take(body);
  }

  cancel(): void {}

  #take(body: string | UpstreamFailure): Batch {
    if (typeof body !== 'string') return { events: [], end: body };
    // Some servers always stream, and some label a stream as JSON.
    return EVENT_LINE.test(body) ? readEvents(body, this.#dialect) : readBody(body, this.#dialect);
  }
}

/** How an event stream may begin; JSON never does. */
const EVENT_LINE = /^\s*(?:data|event|id|retry)?:/;

function readEvents(text: string, dialect: UpstreamDialect): Batch {
  const events: GenerationEvent[] = [];
  const decoder = dialect.stream((event) => events.push(event));
  const failure = decoder.feed(new TextEncoder().encode(text)) ?? decoder.end();
  return { events, end: failure ?? 'finished' };
}

function readBody(body: string, dialect: UpstreamDialect): Batch {
  const whole = dialect.response(body);
  if (isFailure(whole)) return { events: [], end: whole };
  return { events: answerEvents(whole), end: 'finished' };
}

class StreamSource implements AnswerSource {
  readonly #reader: ByteReader;
  readonly #dialect: UpstreamDialect;
  readonly #deadlines: Deadlines;
  readonly #decoder: StreamDecoder;
  readonly soFar: StreamDecoder;
  readonly #taken = (chunk: Read): Awaitable<Batch> => this.#take(chunk);
  readonly #ended = (): Batch => this.end();
  #events: GenerationEvent[] = [];
  /** When an answer with a finish reason ends; undefined while it goes on. */
  #finishesAt: number | undefined;
  #isBlank = true;
  #silentBytes = 0;

  constructor(reader: ByteReader, dialect: UpstreamDialect, deadlines: Deadlines) {
    this.#reader = reader;
    this.#dialect = dialect;
    this.#deadlines = deadlines;
    this.#decoder = dialect.stream((event) => this.#events.push(event));
    this.soFar = this.#decoder;
  }

  read(): Awaitable<Batch> {
    if (this.#decoder.isFinishing()) return this.#readFinishing();
    const chunk = this.#reader.read();
    // Some servers reset instead of closing; after a finish reason both count as the end.
    return chunk instanceof Promise ? chunk.then(this.#taken, this.#ended) : this.#take(chunk);
  }

  end(): Batch {
    const failure = this.#decoder.end();
    return { events: this.#events, end: failure ?? 'finished' };
  }

  cancel(): void {
    cancel(this.#reader);
  }

  /** The next read after a finish reason, or the end. Only content moves the time of the end. */
  async #readFinishing(): Promise<Batch> {
    const nowMs = this.#deadlines.now();
    this.#finishesAt ??= nowMs + FINISHING_MS;
    const leftMs = this.#finishesAt - nowMs;
    const chunk = leftMs > 0 ? await readWithin(leftMs, this.#reader, this.#deadlines) : ENDED;
    if (chunk.done) cancel(this.#reader);
    return this.#take(chunk);
  }

  #take(chunk: Read): Awaitable<Batch> {
    if (chunk.done || chunk.value === undefined) return this.end();
    const first = this.#isBlank ? firstByte(chunk.value) : undefined;
    // An error, or a whole answer, that is labelled as a stream.
    if (first === OPEN_BRACE) return readWhole(this.#reader, chunk.value, this.#dialect);
    this.#isBlank &&= first === undefined;
    const failure = this.#decoder.feed(chunk.value);
    const isFlood = failure === undefined && this.#isFlood(chunk.value);
    if (isFlood && this.#decoder.end() !== undefined) return { events: [], end: SILENT_FLOOD };
    const events = this.#events;
    this.#events = [];
    if (events.length > 0) this.#finishesAt = undefined;
    if (failure !== undefined) return { events, end: failure };
    if (events.at(-1)?.kind !== 'finish') return { events };
    drain(this.#reader, this.#deadlines);
    return { events, end: 'finished' };
  }

  #isFlood(bytes: Uint8Array): boolean {
    this.#silentBytes = this.#events.some(isAnswer) ? 0 : this.#silentBytes + bytes.length;
    return this.#silentBytes > SILENT_BYTES_MAX;
  }
}

const OPEN_BRACE = 0x7b;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/** The first byte that is neither white space nor part of a byte-order mark. */
function firstByte(bytes: Uint8Array): number | undefined {
  return bytes.find((byte) => byte > 0x20 && !BYTE_ORDER_MARK.includes(byte));
}

/** `first` was already read from the body. */
async function readWhole(
  reader: ByteReader,
  first: Uint8Array,
  dialect: UpstreamDialect,
): Promise<Batch> {
  const rest = { read: () => readOrEnd(reader), cancel: async () => cancel(reader) };
  const body = await readText(rest, first);
  return typeof body === 'string' ? readBody(body, dialect) : { events: [], end: body };
}

/** Some servers reset instead of closing; after a finish reason both count as the end. */
async function readOrEnd(reader: ByteReader): Promise<Read> {
  try {
    return await reader.read();
  } catch {
    return ENDED;
  }
}

const ENDED: Read = { done: true };

/** The next read, or an end if nothing arrives in time. */
async function readWithin(ms: number, reader: ByteReader, deadlines: Deadlines): Promise<Read> {
  const late = Promise.withResolvers<Read>();
  const stopDeadline = deadlines.start(ms, () => late.resolve(ENDED));
  const chunk = await Promise.race([readOrEnd(reader), late.promise]);
  stopDeadline();
  return chunk;
}

function cancel(reader: ByteReader): void {
  // The reader may already be gone with its connection, so a failure is irrelevant.
  reader.cancel().catch(() => {});
}

/**
 * Reads the remainder after the last event, so that the connection can be reused. An upstream that
 * keeps it open delays neither the client nor the request.
 */
async function drain(reader: ByteReader, deadlines: Deadlines): Promise<void> {
  const stopDeadline = deadlines.start(DRAIN_MS, () => cancel(reader));
  while (!(await readOrEnd(reader)).done);
  stopDeadline();
  // A body that could not be decompressed has left its connection open.
  cancel(reader);
}
