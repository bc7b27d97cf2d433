// Archives closed months while the server runs: a job of the leader that starts a thread shortly
// after the start and then every ten minutes. A month that cannot be archived, and files that are
// missing, are warnings; nothing is removed until they are repaired.

import { every, type Stop } from '../async/every.ts';
import type { Log } from '../observe/log.ts';
import type { RetentionReport } from '../operations/archive/run.ts';
import type { RetentionReply, RetentionRequest } from './retention-thread.ts';

export type RetentionOptions = {
  readonly url: string;
  readonly directory: string;
  readonly retentionDays: number;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly log: Pick<Log, 'info' | 'error'>;
  /** Replaces the default in tests. */
  readonly firstMs?: number;
  readonly everyMs?: number;
};

export type Retention = {
  /** Starts the schedule. Returns a function that stops it. */
  readonly begin: () => Stop;
  readonly warnings: () => readonly string[];
};

const FIRST_MS = 1_000;
const EVERY_MS = 10 * 60_000;

export function createRetention(options: RetentionOptions): Retention {
  const { url, directory, retentionDays, clock, log } = options;
  let thread: Worker | undefined;
  let problems: readonly string[] = [];

  async function run(): Promise<void> {
    const done = Promise.withResolvers<RetentionReply>();
    const started = startThread();
    thread = started;
    started.onmessage = ({ data }: MessageEvent<RetentionReply>) => {
      if (data.kind === 'line') log.error(data.text);
      else done.resolve(data);
    };
    const fail = (cause: string): void => done.resolve({ kind: 'failed', cause });
    started.onerror = ({ message }) => fail(message);
    started.addEventListener('close', () => fail('its thread has ended'));
    const request: RetentionRequest = { url, directory, retentionDays, nowMs: clock() };
    started.postMessage(request);
    const reply = await done.promise;
    // Stopped.
    if (thread !== started) return;
    thread.terminate();
    thread = undefined;
    if (reply.kind === 'report') finish(reply.report);
    if (reply.kind === 'failed') {
      problems = [reply.cause];
      log.error(`archive: it could not be written: ${reply.cause}`);
    }
  }

  function finish(report: RetentionReport): void {
    problems = report.problems;
    const { months, requests, removed } = report;
    if (months > 0) log.info(`archived ${months} months of accounts with ${requests} requests`);
    if (removed > 0) log.info(`removed ${removed} archived requests from the database`);
  }

  return {
    begin() {
      const onError = (error: unknown): void =>
        log.error('archive: the run failed and is repeated', error);
      const first = setTimeout(() => void run().catch(onError), options.firstMs ?? FIRST_MS);
      first.unref();
      const stop = every(
        options.everyMs ?? EVERY_MS,
        () => (thread === undefined ? run() : undefined),
        onError,
      );
      return () => {
        clearTimeout(first);
        stop();
        const running = thread;
        thread = undefined;
        running?.terminate();
      };
    },
    warnings: () =>
      problems.length === 0 ? [] : [`requests are not archived or removed: ${problems.join('; ')}`],
  };
}

/** The build puts the thread beside the program, so the path is the same in both. */
function startThread(): Worker {
  return new Worker(new URL('./retention-thread.ts', import.meta.url).href);
}
