// One run of retention: archives every month that is due, then removes the rows of verified archives.
// Each month is written, verified, recorded and removed, in this order; a crash between two of these
// steps loses nothing, and the next run goes on. Several nodes may run it: the database decides.

import { sql } from 'drizzle-orm';
import type { ArchiveFailure } from '../../core/alert.ts';
import { DAY_MS } from '../../core/calendar.ts';
import { errorCodeOf, messageOf } from '../../core/message-of.ts';
import { type ArchivedMonth, archivePages, booksStart } from '../../ledger/archive/anchors.ts';
import { type DueMonth, dueMonth, unarchivedAccounts } from '../../ledger/archive/due.ts';
import { recordArchive } from '../../ledger/archive/record.ts';
import { removeArchived } from '../../ledger/archive/remove.ts';
import type { StepOptions } from '../../ledger/steps.ts';
import type { Database } from '../../store/contract.ts';
import { digestProblems, directoryProblems, sweepParts } from './files.ts';
import { UnprovenMonth, type WriteOptions, writeMonth } from './write.ts';

/** The text is for the operator's log: it names files and accounts. */
export type RetentionProblem = { readonly reason: ArchiveFailure; readonly text: string };

export type RetentionRun = WriteOptions & {
  readonly retentionDays: number;
  readonly removal: StepOptions;
  readonly log: (message: string) => void;
};

export type RetentionReport = {
  /** Archived in this run. */
  readonly months: number;
  readonly requests: number;
  /** Rows removed in this run. */
  readonly removed: number;
  /** Why months were not archived, or nothing was removed. */
  readonly problems: readonly RetentionProblem[];
};

/** So many problems are named; the next run names those behind them. */
const PROBLEMS_MAX = 5;

export async function runRetention(options: RetentionRun): Promise<RetentionReport> {
  const { database, directory, removal } = options;
  const interrupted: ArchivedMonth[] = [];
  for await (const page of archivePages(database.db)) {
    const missing = directoryProblems(directory, page);
    // An archive directory that is not mounted looks empty: nothing new belongs there.
    if (missing.length > 0) {
      const problems = missing.slice(0, PROBLEMS_MAX).map(damagedFile);
      return { months: 0, requests: 0, removed: 0, problems };
    }
    interrupted.push(...page.filter(({ state }) => state === 'restoring'));
    await options.rest();
  }
  sweepParts(directory, options.nowMs);
  for (const archive of interrupted) options.log(restoring(archive));
  const archived = await archiveDue(options);
  // Also after a failure: on a full disk, the freed pages are what new requests need.
  let upTo = 0;
  for await (const page of archivePages(database.db, 'removing')) {
    const damaged = await damageOf(directory, page);
    if (damaged.length > 0) {
      const problems = [...archived.problems, ...damaged.map(damagedFile)];
      return { ...archived, removed: 0, problems };
    }
    upTo = page.at(-1)?.number ?? upTo;
  }
  const removed = upTo === 0 ? 0 : await removeArchived(database, upTo, removal);
  return { ...archived, removed };
}

function restoring({ month, accountId }: ArchivedMonth): string {
  return `archive: ${month} of ${accountId} is being restored. If that was interrupted, run tollgate archive restore --month ${month} --account ${accountId} again; until it has ended, the account is not archived`;
}

const damagedFile = (text: string): RetentionProblem => ({ reason: 'files', text });

async function archiveDue(options: RetentionRun): Promise<Omit<RetentionReport, 'removed'>> {
  const { database, retentionDays, removal } = options;
  const untilMs = options.nowMs - retentionDays * DAY_MS;
  const begunMs = removal.monotonic();
  const problems: RetentionProblem[] = [];
  let months = 0;
  let requests = 0;
  for await (const accountId of unarchivedAccounts(database)) {
    for (;;) {
      if (removal.isStopped()) return { months, requests, problems };
      let due: DueMonth | undefined;
      try {
        // Accounts write receipts while those before them are archived.
        const nowMs = Math.ceil(options.nowMs + removal.monotonic() - begunMs);
        due = await dueMonth(database, accountId, { untilMs, nowMs });
        const archived = due && (await archiveMonth(options, due));
        if (archived === undefined) break;
        months += 1;
        requests += archived;
      } catch (error) {
        const problem = problemOf(due?.month ?? 'the next month', accountId, error);
        if (problems.length < PROBLEMS_MAX || isOfAll(problem)) problems.push(problem);
        if (isOfAll(problem) || !(await answers(database))) return { months, requests, problems };
        break;
      }
    }
  }
  return { months, requests, problems };
}

/** Whether the other accounts would fail as well: the folder and the disk are of all of them. */
function isOfAll({ reason }: RetentionProblem): boolean {
  return reason !== 'failed' && reason !== 'unproven';
}

async function answers({ rows }: Database): Promise<boolean> {
  return rows(sql`select 1`).then(
    () => true,
    () => false,
  );
}

/** The number of its requests; `undefined` where it is not for this run to archive. */
async function archiveMonth(options: RetentionRun, due: DueMonth): Promise<number | undefined> {
  const { db } = options.database;
  try {
    const anchor = await writeMonth(options, due);
    const result = await recordArchive(options.database, anchor);
    return result === 'recorded' ? anchor.requests : undefined;
  } catch (error) {
    // Another node may have archived the month, and removed rows that this one was reading.
    const start = await booksStart(db, due.accountId);
    if ((start?.sequence ?? 0) < due.first) throw error;
    return undefined;
  }
}

function problemOf(month: string, accountId: string, error: unknown): RetentionProblem {
  const cause = messageOf(error);
  return {
    reason: error instanceof UnprovenMonth ? 'unproven' : failureOf(error),
    text: `${month} of ${accountId} was not archived: ${cause}`,
  };
}

function failureOf(error: unknown): ArchiveFailure {
  const code = errorCodeOf(error);
  if (/^(ENOSPC|EDQUOT|SQLITE_FULL)$/.test(code)) return 'space';
  return FOLDER_CODES.test(code) ? 'folder' : 'failed';
}

const FOLDER_CODES =
  /^(EACCES|EEXIST|EPERM|EROFS|ENOENT|ENOTDIR|EISDIR|EIO|ESTALE|SQLITE_IOERR.*)$/;

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
