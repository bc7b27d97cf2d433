// Writes lines to standard error, many at a time and without making the event loop wait. The log
// uses it. Whoever reads may be slow or gone: then lines are kept up to a bound, and after that
// lost, but no request ever waits for the log.

import { write, writeSync } from 'node:fs';

const STANDARD_ERROR = 2;

/** Lines leave at this length together, and otherwise within the time below. */
const BATCH_CHARACTERS = 8_192;
const FLUSH_EVERY_MS = 250;

/** What is kept for a reader that is slower than its lines. */
const WAITING_CHARACTERS_MAX = 16_777_216;

/** How long a pipe that was full gets to empty. */
const RETRY_MS = 100;

export type LineWriter = {
  readonly write: (line: string) => void;
  /** Writes what waits before it returns: for the end of the process. */
  readonly flush: () => void;
};

export function createLineWriter(): LineWriter {
  let waiting = '';
  /** Given to the system and not written yet. */
  let leaving = Buffer.alloc(0);
  let busy = false;

  const send = (): void => {
    if (busy) return;
    if (leaving.length === 0) {
      leaving = Buffer.from(waiting);
      waiting = '';
    }
    if (leaving.length === 0) return;
    busy = true;
    write(STANDARD_ERROR, leaving, 0, leaving.length, null, (cause, written) => {
      busy = false;
      leaving = leaving.subarray(cause === null ? written : lost(cause, leaving.length));
      if (cause !== null) setTimeout(send, RETRY_MS).unref();
      else if (leaving.length > 0 || waiting.length >= BATCH_CHARACTERS) send();
    });
  };
  setInterval(send, FLUSH_EVERY_MS).unref();

  return {
    write(line) {
      if (waiting.length > WAITING_CHARACTERS_MAX) return;
      waiting += `${line}\n`;
      if (waiting.length >= BATCH_CHARACTERS) send();
    },
    flush() {
      // What a write under way has taken is the system's already.
      const rest = busy ? Buffer.from(waiting) : Buffer.concat([leaving, Buffer.from(waiting)]);
      if (!busy) leaving = Buffer.alloc(0);
      waiting = '';
      try {
        for (let at = 0; at < rest.length; ) at += writeSync(STANDARD_ERROR, rest, at);
      } catch {
        // Standard error is gone, or full to its brim: there is nowhere left to say so.
      }
    },
  };
}

/** A full pipe keeps its bytes for the next try; a broken one never takes them. */
function lost(cause: NodeJS.ErrnoException, bytes: number): number {
  return cause.code === 'EAGAIN' ? 0 : bytes;
}
