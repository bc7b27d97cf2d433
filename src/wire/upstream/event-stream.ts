// The common part of all dialects' streams: passes records to a dialect's reader, and ends with at
// most one failure, and with none after a finish reason that means the end. `finish` is always the last event, emitted at the end marker or the end of the
// bytes, so a reader may stop there. After a broken connection, `end` still reports whether the
// answer was complete.

import type { UpstreamFailure } from '../../core/failure.ts';
import type { UsageReport } from '../../core/generation.ts';
import type { StreamDecoder } from '../format.ts';
import { SseDecoder } from '../sse.ts';
import { malformed } from './failure.ts';
import { EVENT_LINES_MAX, isTooHeavy, STREAM_LIMITS } from './limits.ts';

type EventReader = {
  /** Reads one record. `over`: nothing relevant follows. */
  readonly read: (text: string, event: string) => UpstreamFailure | 'over' | 'not JSON' | undefined;
  /** Reads a record in place; false if it needs `read`, which gives the same result. */
  readonly readFast?: (text: string, from: number, to: number) => boolean;
  /** The failure of a record whose event name is an error. */
  readonly error: (text: string) => UpstreamFailure;
  /** Ends the answer: emits its last events, or reports what is missing. */
  readonly end: () => UpstreamFailure | undefined;
  /** Whether a finish reason has been read. */
  readonly hasFinish: () => boolean;
  /** Whether one that means the end has been read. */
  readonly isFinishing: () => boolean;
  /** The service tier that has been read. */
  readonly serviceTier: () => string | undefined;
  /** The usage that has been read, before the end of the answer. */
  readonly usageSoFar: () => UsageReport | undefined;
};

/** Decodes one stream. After a failure it emits nothing and repeats the failure. */
export class EventStream implements StreamDecoder {
  readonly #reader: EventReader;
  readonly #sse: SseDecoder;
  #failure: UpstreamFailure | undefined;
  #isDone = false;
  #atEnd = false;
  #hasBegun = false;

  constructor(reader: EventReader) {
    this.#reader = reader;
    this.#sse = new SseDecoder(this, STREAM_LIMITS);
  }

  isFinishing(): boolean {
    return this.#reader.isFinishing();
  }

  serviceTier(): string | undefined {
    return this.#reader.serviceTier();
  }

  usageSoFar(): UsageReport | undefined {
    return this.#reader.usageSoFar();
  }

  hasBegun(): boolean {
    return this.#hasBegun;
  }

  feed(bytes: Uint8Array): UpstreamFailure | undefined {
    if (this.#isOver()) return this.#failure;
    const broken = this.#sse.feed(bytes);
    if (!this.#isDone && broken !== undefined) this.#failure ??= this.#unlessFinishing(broken);
    return this.#failure;
  }

  end(): UpstreamFailure | undefined {
    if (this.#isOver()) return this.#failure;
    this.#atEnd = true;
    const broken = this.#sse.end();
    if (!this.#isDone) this.#failure ??= broken ?? this.#reader.end();
    this.#isDone = true;
    return this.#failure;
  }

  /** Called by the SSE decoder. */
  record(data: string, event: string): void {
    if (this.#isOver()) return;
    const failure = this.#readRecord(data.trim(), event);
    this.#failure = failure && !this.#isDone ? this.#unlessFinishing(failure) : failure;
  }

  /** Called by the SSE decoder. */
  glance(text: string, from: number, to: number, event: string): boolean {
    if (event === 'error' || this.#isOver()) return false;
    return this.#reader.readFast?.(text, from, to) === true;
  }

  #isOver(): boolean {
    return this.#isDone || this.#failure !== undefined;
  }

  #readRecord(text: string, event: string): UpstreamFailure | undefined {
    if (text === '[DONE]') return this.#finish();
    if (isTooHeavy(text)) return malformed('an event with too many values, or nested too deep');
    if (event === 'error') return this.#reader.error(text);
    // Keep-alives that should have been comments: `data:`, `data: null` and `data: : keepalive`.
    if (text === '' || text === 'null' || text.startsWith(':')) return undefined;
    const outcome = this.#reader.read(text, event);
    if (event !== 'ping' && outcome !== 'not JSON') this.#hasBegun = true;
    if (outcome === 'over') return this.#finish();
    if (outcome !== 'not JSON') return outcome;
    return this.#readOther(text, event);
  }

  /** Reads data that is not JSON as a whole. */
  #readOther(text: string, event: string): UpstreamFailure | undefined {
    // Events without a blank line between them.
    const lines = text.split('\n', EVENT_LINES_MAX + 1);
    if (lines.length > 1 && lines.length <= EVENT_LINES_MAX && lines.every(mayBegin))
      return this.#readLines(lines, event);
    // Text outside the answer: a named event such as `ping`, or text after the finish reason.
    const isAside = (event !== '' && event !== 'message') || this.#reader.hasFinish();
    if (isAside && !/^[[{]/.test(text)) return undefined;
    // The bytes ended inside an event. The finish reason decides whether that matters.
    if (this.#atEnd) return undefined;
    return malformed('an event that is not JSON');
  }

  #readLines(lines: readonly string[], event: string): UpstreamFailure | undefined {
    for (const line of lines) {
      const broken = this.#readRecord(line.trim(), event);
      if (broken !== undefined || this.#isDone) return broken;
    }
    return undefined;
  }

  /** The model has ended its answer: an error, or damage, behind it changes nothing. */
  #unlessFinishing(failure: UpstreamFailure): UpstreamFailure | undefined {
    return this.#reader.isFinishing() ? this.#finish() : failure;
  }

  #finish(): UpstreamFailure | undefined {
    this.#isDone = true;
    return this.#reader.end();
  }
}

/** Whether a line may be the start of an event's data, and not a continuation. */
function mayBegin(line: string): boolean {
  return /^\s*(?:[{[:]|$)/.test(line);
}
