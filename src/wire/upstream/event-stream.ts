// What the streams of all dialects have in common: bytes in, records of text out to a dialect's
// reader, and one failure that ends everything. `finish` is always the last event: it comes with the
// end mark or at the end of the bytes, so whoever reads may stop there and leave the rest unread.
// Where a connection breaks, `end` still says whether the answer had been complete.

import type { UpstreamFailure } from '../../core/failure.ts';
import type { StreamDecoder } from '../format.ts';
import { SseDecoder } from '../sse.ts';
import { malformed } from './failure.ts';
import { STREAM_LIMITS } from './limits.ts';

type EventReader = {
  /** Reads one record. `over`: nothing more will come that matters. */
  readonly read: (text: string, event: string) => UpstreamFailure | 'over' | 'not JSON' | undefined;
  /** Reads a record in the text around it; false where it takes `read`, with the same result. */
  readonly readFast?: (text: string, from: number, to: number) => boolean;
  /** The failure of a record that is an error by its name. */
  readonly error: (text: string) => UpstreamFailure;
  /** The answer is over: emits its last events, or says what is missing. */
  readonly end: () => UpstreamFailure | undefined;
  readonly isFinishing: () => boolean;
};

/** Decodes one stream. After a failure it emits nothing and repeats the failure. */
export class EventStream implements StreamDecoder {
  readonly #reader: EventReader;
  readonly #sse: SseDecoder;
  #failure: UpstreamFailure | undefined;
  #isDone = false;
  #atEnd = false;

  constructor(reader: EventReader) {
    this.#reader = reader;
    this.#sse = new SseDecoder(this, STREAM_LIMITS);
  }

  isFinishing(): boolean {
    return this.#reader.isFinishing();
  }

  feed(bytes: Uint8Array): UpstreamFailure | undefined {
    if (this.#isOver()) return this.#failure;
    const broken = this.#sse.feed(bytes);
    if (!this.#isDone) this.#failure ??= broken;
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

  /** Called by the decoder of records. */
  record(data: string, event: string): void {
    if (!this.#isOver()) this.#failure = this.#readRecord(data.trim(), event);
  }

  /** Called by the decoder of records. */
  glance(text: string, from: number, to: number): boolean {
    return !this.#isOver() && this.#reader.readFast?.(text, from, to) === true;
  }

  #isOver(): boolean {
    return this.#isDone || this.#failure !== undefined;
  }

  #readRecord(text: string, event: string): UpstreamFailure | undefined {
    if (text === '[DONE]') return this.#finish();
    if (event === 'error') return this.#reader.error(text);
    // Keep-alives that should have been comments: `data:`, `data: null` and `data: : keepalive`.
    if (text === '' || text === 'null' || text.startsWith(':')) return undefined;
    const outcome = this.#reader.read(text, event);
    if (outcome === 'over') return this.#finish();
    if (outcome !== 'not JSON') return outcome;
    return this.#readOther(text, event);
  }

  /** Reads what is not JSON as a whole. */
  #readOther(text: string, event: string): UpstreamFailure | undefined {
    // Events that no blank line parts.
    const lines = text.split('\n');
    if (lines.length > 1 && lines.every(mayBegin)) return this.#readLines(lines, event);
    // A word beside the answer: `event: ping` with one, or one behind the finish reason.
    const isAside = (event !== '' && event !== 'message') || this.#reader.isFinishing();
    if (isAside && !/^[[{]/.test(text)) return undefined;
    // The bytes ended inside an event. Whether that matters is for the finish reason to say.
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

  #finish(): UpstreamFailure | undefined {
    this.#isDone = true;
    return this.#reader.end();
  }
}

/** Whether a line may be the start of an event's data, and not of what is inside it. */
function mayBegin(line: string): boolean {
  return /^\s*(?:[{[:]|$)/.test(line);
}
