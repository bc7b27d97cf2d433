// One run of retention: archives every month that is due, then removes the rows of verified archives.
// Each month is written, verified, recorded and removed, in this order; a crash between two of these
// steps loses nothing, and the next run goes on. Several nodes may run it: the database decides.

import { DAY_MS } from '../../core/calendar.ts';
import { type ArchivedMonth, listArchives } from '../../ledger/archive/anchors.ts';
import { dueMonth, unarchivedAccounts } from '../../ledger/archive/due.ts';
import { recordArchive } from '../../ledger/archive/record.ts';
import { type RemovalOptions, removeArchived } from '../../ledger/archive/remove.ts';
import { digestProblems, directoryProblems } from './files.ts';
import { UnprovenMonth, type WriteOptions, writeMonth } from './write.ts';

export type RetentionRun = Omit<WriteOptions, 'onAside'> & {
  readonly retentionDays: number;
  readonly removal: RemovalOptions;
  readonly log: (message: string) => void;
};

export type RetentionReport = {
  /** Archived in this run. */
  readonly months: number;
  readonly requests: number;
  /** Rows removed in this run. */
  readonly removed: number;
  /** Why months were not archived, or nothing was removed; for operators. */
  readonly problems: readonly string[];
};

/** Named in warnings; the log has all of them. */
const PROBLEMS_MAX = 5;

export async function runRetention(options: RetentionRun): Promise<RetentionReport> {
  const { database, directory, removal } = options;
  const before = await listArchives(database.db);
  const missing = directoryProblems(directory, before);
  // An archive directory that is not mounted looks empty: nothing new belongs there.
  if (missing.length > 0) return stopped(options, missing);
  const archived = await archiveDue(options);
  const toRemove = (await listArchives(database.db)).filter(({ state }) => state === 'removing');
  const damaged = await damageOf(directory, toRemove);
  if (damaged.length > 0) {
    return { ...archived, removed: 0, problems: [...archived.problems, ...damaged] };
  }
  const upTo = Math.max(0, ...toRemove.map(({ number }) => number));
  const removed = upTo === 0 ? 0 : await removeArchived(database, upTo, removal);
  return { ...archived, removed };
}

function stopped({ log }: Pick<RetentionRun, 'log'>, problems: readonly string[]): RetentionReport {
  for (const problem of problems) log(`archive: ${problem}`);
  return { months: 0, requests: 0, removed: 0, problems: problems.slice(0, PROBLEMS_MAX) };
}

async function archiveDue(options: RetentionRun): Promise<Omit<RetentionReport, 'removed'>> {
  const { database, retentionDays, nowMs, log } = options;
  const untilMs = nowMs - retentionDays * DAY_MS;
  const problems: string[] = [];
  let months = 0;
  let requests = 0;
  for await (const accountId of unarchivedAccounts(database)) {
    for (;;) {
      if (options.removal.isStopped()) return { months, requests, problems };
      const due = await dueMonth(database, accountId, untilMs);
      if (due === undefined) break;
      try {
        const onAside = (path: string) => log(`archive: kept an unrecorded file as ${path}`);
        const anchor = await writeMonth({ ...options, onAside }, due);
        const recorded = await recordArchive(database, anchor);
        if (recorded !== 'recorded') break;
        months += 1;
        requests += anchor.requests;
      } catch (error) {
        if (!(error instanceof UnprovenMonth)) throw error;
        const problem = `${due.month} of ${accountId} was not archived: ${error.message}`;
        log(`archive: ${problem}`);
        if (problems.length < PROBLEMS_MAX) problems.push(problem);
        break;
      }
    }
  }
  return { months, requests, problems };
}

/** Reads the files to their ends before the rows that they replace are removed. */
async function damageOf(
  directory: string,
  archives: readonly ArchivedMonth[],
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const archive of archives) {
    problems.push(...(await digestProblems(directory, archive)));
    if (problems.length >= PROBLEMS_MAX) break;
  }
  return problems;
}
