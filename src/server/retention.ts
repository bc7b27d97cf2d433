// Archives closed months while the server runs: a job of the leader that starts a thread shortly
// after the start and then every ten minutes. A month that cannot be archived, and files that are
// missing, are warnings; nothing is removed until they are repaired.

import { every, type Stop } from '../async/every.ts';
import type { Alert, ArchiveFailure } from '../core/alert.ts';
import { ARCHIVE_FAILURES, ARCHIVES } from '../core/alert-sentence.ts';
import { messageOf } from '../core/message-of.ts';
import { type Sentence, say } from '../core/sentence.ts';
import type { Log } from '../observe/log.ts';
import type { RetentionState } from '../observe/upkeep.ts';
import type { RetentionReport } from '../operations/archive/run.ts';
import type { RetentionRequest } from './retention-thread.ts';
import { type AskedThread, type AskOptions, askThread } from './thread.ts';

export type RetentionOptions = {
  readonly url: string;
  readonly directory: string;
  readonly retentionDays: number;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  readonly log: Pick<Log, 'info' | 'error'>;
  readonly alert: (alert: Alert) => void;
  /** Replaces the default in tests. */
  readonly firstMs?: number;
  readonly everyMs?: number;
  readonly startThread?: AskOptions['start'];
};

export type Retention = {
  /** Starts the schedule. Returns a function that stops it. */
  readonly begin: () => Stop;
  /** Without the names of files and accounts, because everyone may read them. */
  readonly warnings: () => readonly Sentence[];
  readonly state: () => RetentionState;
};

const FIRST_MS = 1_000;
const EVERY_MS = 10 * 60_000;

export function createRetention(options: RetentionOptions): Retention {
  const { url, directory, retentionDays, clock, monotonic, log } = options;
  let thread: AskedThread<RetentionReport> | undefined;
  let failures: readonly ArchiveFailure[] = [];
  /** Of the monotonic clock; absent on a node that does not lead. */
  let goodSinceMs: number | undefined;
  const done = { succeeded: 0, failed: 0, archived: 0, removed: 0 };

  async function run(): Promise<void> {
    thread = askThread<RetentionRequest, RetentionReport>(
      './retention-thread.ts',
      () => ({ url, directory, retentionDays, nowMs: clock() }),
      { onLine: (text) => log.error(text), start: options.startThread },
    );
    try {
      finish(await thread.answer);
    } finally {
      thread = undefined;
    }
  }

  function finish({ months, requests, removed, problems }: RetentionReport): void {
    done.archived += requests;
    done.removed += removed;
    if (months > 0) log.info(`archived ${months} months of accounts with ${requests} requests`);
    if (removed > 0) log.info(`removed ${removed} archived requests from the database`);
    if (problems.length > 0) {
      fail(problems);
      return;
    }
    failures = [];
    done.succeeded += 1;
    goodSinceMs = monotonic();
  }

  function fail(problems: RetentionReport['problems']): void {
    for (const { text } of problems) log.error(`archive: ${text}`);
    failures = [...new Set(problems.map(({ reason }) => reason))];
    done.failed += 1;
    for (const reason of failures) options.alert({ kind: 'archive_failed', reason });
  }

  return {
    begin() {
      goodSinceMs = monotonic();
      const onError = (error: unknown): void =>
        fail([{ reason: 'failed', text: messageOf(error) }]);
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
        thread?.stop();
        thread = undefined;
        failures = [];
        goodSinceMs = undefined;
      };
    },
    warnings: () =>
      failures.map((reason) =>
        say(
          'requests are not archived or removed: {reason}; see the log',
          { reason: ARCHIVE_FAILURES[reason] },
          ARCHIVES,
        ),
      ),
    state: () => ({
      ...done,
      isFailing: failures.length > 0,
      ageMs: goodSinceMs === undefined ? undefined : monotonic() - goodSinceMs,
    }),
  };
}
