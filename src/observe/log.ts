// The operator's log: one JSON object a line on standard error. Its functions take closed types
// without a place for a key, a prompt, a body or a header, so none can get in by mistake.

import { pino } from 'pino';
import { withTimeout } from '../async/timeout.ts';
import type { RequestSummary } from '../core/request-summary.ts';
import { errorWords } from './error-text.ts';
import { createRefusedLines } from './refused-lines.ts';
import { levelOf } from './request-line.ts';
import { createRequestLines } from './request-lines.ts';

type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export type Log = {
  /** One line for a request that is over; refused ones up to a rate. */
  readonly request: (summary: RequestSummary) => void;
  readonly info: (message: string) => void;
  readonly warn: (message: string) => void;
  /** `message` is ours. Of `error` the log says what `errorWords` lets through. */
  readonly error: (message: string, error?: unknown) => void;
  /** Writes what is left, for a bounded time: a pipe that is not read takes nothing. The last call. */
  readonly close: () => Promise<void>;
};

const FLUSH_EVERY_MS = 250;

/** For a reader that is slow; one that stands still must not keep the process. */
const CLOSE_MS = 1_000;

/** Characters that wait for the disk; what comes beyond is dropped. */
const WAITING_MAX = 4_194_304;

export function createLog(level: LogLevel): Log {
  const destination = pino.destination({
    dest: 2,
    sync: false,
    // Lines leave in batches, and a quiet log within this time: a write for each request is slow.
    minLength: 8_192,
    periodicFlush: FLUSH_EVERY_MS,
    maxLength: WAITING_MAX,
  });
  // A log that cannot be written, on a full disk, must not end the server: its lines wait.
  destination.on('error', () => undefined);
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  const requests = createRequestLines((lines) => destination.write(lines));
  /** For a line of another kind: those of the requests before it go first. */
  const inOrder = (): typeof logger => {
    requests.flush();
    return logger;
  };
  const refused = createRefusedLines({
    monotonic: () => performance.now(),
    onLeftOut: (count) => inOrder().warn({ count }, 'lines of refused requests were left out'),
  });
  return {
    request(summary) {
      if (!logger.isLevelEnabled(levelOf(summary))) return;
      const isRefused = summary.code !== undefined && summary.answer === undefined;
      if (isRefused && !refused.mayWrite()) return;
      requests.add(summary);
    },
    info: (message) => inOrder().info(message),
    warn: (message) => inOrder().warn(message),
    error(message, error) {
      if (error === undefined) inOrder().error(message);
      else inOrder().error({ error: errorWords(error) }, message);
    },
    async close() {
      requests.flush();
      const flushed = (): Promise<unknown> => new Promise((resolve) => destination.flush(resolve));
      // The first one may end with a write that was in progress, and leave what came after it. A
      // destination that was never written to, or whose reader is gone, has nothing to flush.
      await withTimeout(CLOSE_MS, flushed().then(flushed));
      // Else the library writes what is left when the process exits, and waits for the reader.
      destination.destroy();
      logger.level = 'silent';
    },
  };
}
