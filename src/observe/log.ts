// The operator's log: one JSON object a line on standard error. Its functions take closed types
// without a place for a key, a prompt, a body or a header, so none can get in by mistake. Lines are
// collected and leave together, and are made by hand: a write or a logging library's work for each
// was measured at a twentieth of all that a request costs.

import { createLineWriter } from './line-writer.ts';

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

/** Rising; a level shows itself and what stands after it. */
const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent'];

export function createLog(level: LogLevel): Log {
  const writer = createLineWriter();
  const shown = (of: LogLevel): boolean => LEVELS.indexOf(of) >= LEVELS.indexOf(level);
  const logs = { info: shown('info'), warn: shown('warn'), error: shown('error') };

  const write = (of: keyof typeof logs, fields: object, msg: string): void => {
    if (!logs[of]) return;
    const time = new Date().toISOString();
    writer.write(JSON.stringify({ level: of, time, ...fields, msg }));
  };
  return {
    request: (line) => write('info', line, 'request'),
    info: (message) => write('info', {}, message),
    warn: (message) => write('warn', {}, message),
    error(message, error) {
      const fields = error instanceof Error ? { name: error.name, stack: error.stack } : {};
      write('error', fields, message);
    },
    flush: writer.flush,
  };
}
