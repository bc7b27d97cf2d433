// The operator's log: one JSON object a line on standard error. Its functions take closed types
// without a place for a key, a prompt, a body or a header, so none can get in by mistake.

import { pino } from 'pino';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Counts, names and ids of one finished request. */
type RequestLine = {
  readonly requestId: string;
  readonly format: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  readonly modelServed: string;
  readonly stream: boolean;
  readonly outcome: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly tokensDebited: string;
  readonly durationMs: number;
  readonly failure?: string;
};

export type Log = {
  readonly request: (line: RequestLine) => void;
  readonly info: (message: string) => void;
  readonly warn: (message: string) => void;
  /** `error` is logged with its stack, which names our own code and nothing of a request. */
  readonly error: (message: string, error?: unknown) => void;
  readonly flush: () => void;
};

const FLUSH_EVERY_MS = 250;

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
  return {
    request: (line) => logger.info(line, 'request'),
    info: (message) => logger.info(message),
    warn: (message) => logger.warn(message),
    error(message, error) {
      if (error instanceof Error) logger.error({ name: error.name, stack: error.stack }, message);
      else logger.error(message);
    },
    flush() {
      try {
        destination.flushSync();
      } catch {
        // Nothing was written yet, or standard error is gone: there is nowhere left to say so.
      }
    },
  };
}
