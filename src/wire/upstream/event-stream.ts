// What the streams of all dialects have in common: bytes in, records of text out to a dialect's
// reader, and one failure that ends everything. `finish` is always the last event: it comes with the
// end mark or at the end of the bytes, so whoever reads may stop there and leave the rest unread.
// Where a connection breaks, `end` still says whether the answer had been complete.

import type { UpstreamFailure } from '../../core/failure.ts';
import type { StreamDecoder } from '../format.ts';
import { createSseDecoder } from '../sse.ts';
import { malformed } from './failure.ts';
import { STREAM_LIMITS } from './limits.ts';

type EventReader = {
  /** Reads one record. `over`: nothing more will come that matters. */
  readonly read: (text: string, event: string) => UpstreamFailure | 'over' | 'not JSON' | undefined;
  /** The failure of a record that is an error by its name. */
  readonly error: (text: string) => UpstreamFailure;
  /** The answer is over: emits its last events, or says what is missing. */
  readonly end: () => UpstreamFailure | undefined;
  readonly isFinishing: () => boolean;
};

/** Returns a decoder for one stream. After a failure it emits nothing and repeats the failure. */
export function createEventStream(reader: EventReader): StreamDecoder {
  const sse = createSseDecoder(onRecord, STREAM_LIMITS);
  let failure: UpstreamFailure | undefined;
  let done = false;
  let atEnd = false;

  function onRecord(data: string, event: string): void {
    if (!done && failure === undefined) failure = readRecord(data.trim(), event);
  }

  function readRecord(text: string, event: string): UpstreamFailure | undefined {
    if (text === '[DONE]') return finish();
    if (event === 'error') return reader.error(text);
    // Keep-alives that should have been comments: `data:`, `data: null` and `data: : keepalive`.
    if (text === '' || text === 'null' || text.startsWith(':')) return undefined;
    const outcome = reader.read(text, event);
    if (outcome === 'over') return finish();
    if (outcome !== 'not JSON') return outcome;
    return readOther(text, event);
  }

  /** Reads what is not JSON as a whole. */
  function readOther(text: string, event: string): UpstreamFailure | undefined {
    // Events that no blank line parts.
    const lines = text.split('\n');
    if (lines.length > 1 && lines.every(mayBegin)) return readLines(lines, event);
    // A word beside the answer: `event: ping` with one, or one behind the finish reason.
    const isAside = (event !== '' && event !== 'message') || reader.isFinishing();
    if (isAside && !/^[[{]/.test(text)) return undefined;
    // The bytes ended inside an event. Whether that matters is for the finish reason to say.
    if (atEnd) return undefined;
    return malformed('an event that is not JSON');
  }

  function readLines(lines: readonly string[], event: string): UpstreamFailure | undefined {
    for (const line of lines) {
      const broken = readRecord(line.trim(), event);
      if (broken !== undefined || done) return broken;
    }
    return undefined;
  }

  function finish(): UpstreamFailure | undefined {
    done = true;
    return reader.end();
  }

  return {
    isFinishing: reader.isFinishing,
    feed(bytes) {
      if (done || failure !== undefined) return failure;
      const broken = sse.feed(bytes);
      if (!done) failure ??= broken;
      return failure;
    },
    end() {
      if (done || failure !== undefined) return failure;
      atEnd = true;
      const broken = sse.end();
      if (!done) failure ??= broken ?? reader.end();
      done = true;
      return failure;
    },
  };
}

/** Whether a line may be the start of an event's data, and not of what is inside it. */
function mayBegin(line: string): boolean {
  return /^\s*(?:[{[:]|$)/.test(line);
}
