// The operator's log: one JSON object per line on standard error. Its functions take closed types
// without a field for a key, a prompt, a body or a header, so none can be logged by mistake.

import { pino } from 'pino';
import { withTimeout } from '../async/timeout.ts';
import type { HeardWords } from '../core/failure.ts';
import type { RequestSummary } from '../core/request-summary.ts';
import { errorWords } from './error-text.ts';
import { createRefusedLines } from './refused-lines.ts';
import { levelOf } from './request-line.ts';
import { createRequestLines } from './request-lines.ts';

type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export type Log = ReturnType<typeof createLog>;

const FLUSH_EVERY_MS = 250;

/** For a slow reader; a blocked one must not keep the process. */
const CLOSE_MS = 1_000;

/** Characters that wait for the disk; further lines are dropped. */
const WAITING_MAX = 4_194_304;

export function createLog(level: LogLevel) {
  const destination = pino.destination({
    dest: 2,
    sync: false,
    // Lines are written in batches, and at this interval: a write per request is slow.
    minLength: 8_192,
    periodicFlush: FLUSH_EVERY_MS,
    maxLength: WAITING_MAX,
  });
  // A log that cannot be written, as on a full disk, must not end the server: its lines wait.
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
  const unfiltered = logger.child({}, { level: 'info' });
  const requests = createRequestLines((lines) => destination.write(lines));
  /** Before a line of another kind, the lines of earlier requests are written. */
  const inOrder = (): typeof logger => {
    requests.flush();
    return logger;
  };
  const refused = createRefusedLines({
    monotonic: () => performance.now(),
    onLeftOut: (count) => inOrder().warn({ count }, 'lines of refused requests were left out'),
  });
  return {
    /** One line per ended request; the lines of refused ones are rate-limited. */
    request(summary: RequestSummary): void {
      if (!logger.isLevelEnabled(levelOf(summary))) return;
      const isRefused = summary.code !== undefined && summary.answer === undefined;
      if (isRefused && !refused.mayWrite()) return;
      requests.add(summary);
    },
    /** What an upstream said of a failed attempt, without its caller's words. */
    failedAttempt({ upstream, model, failure, words, requestId }: HeardWords): void {
      if (!logger.isLevelEnabled('debug')) return;
      inOrder().debug({ requestId, upstream, model, failure, words }, 'attempt failed');
    },
    info: (message: string): void => inOrder().info(message),
    /** Written at every level: for what the operator must see, such as links without a mail server. */
    always(message: string): void {
      requests.flush();
      unfiltered.info(message);
    },
    warn: (message: string): void => inOrder().warn(message),
    /** `message` is ours. `errorWords` selects what is logged of `error`. */
    error(message: string, error?: unknown): void {
      if (error === undefined) inOrder().error(message);
      else inOrder().error({ error: errorWords(error) }, message);
    },
    /** Flushes, for a bounded time, because a pipe may have no reader. Must be the last call. */
    async close(): Promise<void> {
      requests.flush();
      const flushed = (): Promise<unknown> => new Promise((resolve) => destination.flush(resolve));
      // The first flush may only end a write that was in progress, and leave later lines. A
      // destination without writes or without a reader has nothing to flush.
      await withTimeout(CLOSE_MS, flushed().then(flushed));
      // Otherwise the library writes the rest at exit, and waits for the reader.
      destination.destroy();
      logger.level = 'silent';
    },
  };
}
