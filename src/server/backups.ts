// Makes a backup of the database whenever the newest one in BACKUP_DIR is old enough, the first one
// seconds after a start that finds none, and removes the oldest ones. A failed backup is an alert
// and is tried again in some minutes; it never affects serving.

import { mkdir, open, readdir, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { every, type Stop } from '../async/every.ts';
import type { Config } from '../config/settings.ts';
import type { Alert, BackupFailure } from '../core/alert.ts';
import { BACKUPS } from '../core/alert-sentence.ts';
import {
  type BackupFile,
  backupName,
  findBackups,
  findRemains,
  isDue,
  isSince,
  newestVerified,
  PARTIAL,
  prunable,
  UNVERIFIED,
} from '../core/backup-files.ts';
import { type Sentence, say, sayAge } from '../core/sentence.ts';
import type { Log } from '../observe/log.ts';
import type { BackupState } from '../observe/upkeep.ts';
import { databaseBytes, spareBytes } from '../store/disk-reserve.ts';
import { ownBackups } from '../store/owner.ts';
import { type BackupRun, createBackupRunner, type RunBackup } from './backup-run.ts';

export type BackupsOptions = {
  readonly directory: string;
  /** The path of the database. */
  readonly database: string;
  readonly everyMs: number;
  readonly keep: number;
  readonly run: RunBackup;
  /** Whether the database file is the one that is served. */
  readonly isInPlace: () => boolean;
  /** When the database was new, in Unix milliseconds: after `afterMs` if nothing is known of it. */
  readonly beganMs: (afterMs: number) => Promise<number>;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  readonly alert: (alert: Alert) => void;
  /** Replaces the default in tests. */
  readonly lookMs?: number;
};

export type Backups = {
  /** Returns a function that stops it and the backup that runs. */
  readonly start: () => Stop;
  readonly warnings: () => readonly Sentence[];
  readonly state: () => BackupState;
};

export type ServingBackupsOptions = Pick<
  BackupsOptions,
  'isInPlace' | 'beganMs' | 'clock' | 'monotonic' | 'log' | 'alert'
> & {
  readonly config: Pick<Config, 'backupDirectory' | 'backupEveryMs' | 'backupKeep' | 'databaseUrl'>;
};

const LOOK_MS = 1_000;
const RETRY_MS = 5 * 60_000;
const RELIST_MS = 60_000;
const WATCH_MS = 250;

/** A backup is late where it is this much older than the interval. */
const LATE_SHARE = 0.5;

/** Those of a server; `undefined` without BACKUP_DIR. */
export function createServingBackups(
  database: string,
  { config, ...options }: ServingBackupsOptions,
): Backups | undefined {
  const { backupDirectory, backupEveryMs: everyMs, backupKeep: keep, databaseUrl } = config;
  if (backupDirectory === undefined) return undefined;
  const directory = resolve(backupDirectory);
  const run = createBackupRunner(databaseUrl);
  return createBackups({ ...options, directory, database, everyMs, keep, run });
}

export function createBackups(options: BackupsOptions): Backups {
  const { directory, everyMs, clock, monotonic, log, alert } = options;
  const stem = basename(options.database).replace(/\.[^.]+$/, '');
  /** Newest first; unknown before the first look. */
  let files: readonly BackupFile[] | undefined;
  let beganMs: number | undefined;
  /** How many backups were here before. */
  let older = 0;
  let failure: BackupFailure | undefined;
  /** Of the monotonic clock. */
  let notBefore = 0;
  let listedAt = 0;
  let running: BackupRun | undefined;
  let isStopped = false;
  let release: (() => void) | undefined;
  const done = { made: 0, failed: 0, bytes: 0, seconds: 0 };

  const isClockBehind = (): boolean => clock() < (beganMs ?? 0);
  const newestMs = (): number | undefined => newestVerified(files ?? [], clock())?.atMs;

  async function look(): Promise<void> {
    if (isStopped || !options.isInPlace()) return;
    await noticeRemoval();
    if (monotonic() < notBefore) return;
    if (files !== undefined && !isDue(newestMs(), clock(), everyMs)) return;
    try {
      if (!(await own())) {
        fail('shared');
        return;
      }
      await refresh();
      if (!isDue(newestMs(), clock(), everyMs)) return;
      const startedAt = monotonic();
      const result = await backUp();
      if (result === 'made') succeed(startedAt);
      else if (result !== 'stopped') fail(result);
    } catch (error) {
      log.error('backup: the folder cannot be used', error);
      fail('folder');
    }
  }

  function succeed(startedAt: number): void {
    failure = undefined;
    done.made += 1;
    done.seconds = (monotonic() - startedAt) / 1_000;
    // Also where the clock was set back, so that names from the future cause no second backup.
    notBefore = startedAt + everyMs;
  }

  function fail(reason: BackupFailure): void {
    failure = reason;
    done.failed += 1;
    // The next copy has the same books.
    const waitMs = reason === 'differences' ? everyMs : Math.min(RETRY_MS, everyMs);
    notBefore = monotonic() + waitMs;
    alert({ kind: 'backup_failed', reason });
  }

  /** Of two servers in one folder, one would take the other's backups for its own. */
  async function own(): Promise<boolean> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    release ??= ownBackups(directory, stem);
    return release !== undefined;
  }

  /** Where the backups were removed, or their disk is away, the next one is due at once. */
  async function noticeRemoval(): Promise<void> {
    if (newestMs() === undefined || monotonic() - listedAt < RELIST_MS) return;
    listedAt = monotonic();
    files = ownFiles(await readdir(directory).catch(() => []));
    if (newestMs() !== undefined) return;
    notBefore = 0;
    log.error(
      `backup: no verified backup is left in ${directory}, so another one is made. If its disk was unmounted, mount it again.`,
    );
  }

  /** Lists the folder, and removes what interrupted backups have left. */
  async function refresh(): Promise<void> {
    const names = await readdir(directory);
    for (const name of findRemains(names, stem)) await rm(join(directory, name), { force: true });
    const all = findBackups(names, stem);
    beganMs ??= await options.beganMs(Math.max(0, ...all.map(({ atMs }) => atMs + 1_000)));
    files = ownFiles(names);
    const known = older;
    older = all.length - files.length;
    if (known === 0 && older > 0) log.warn(olderText(older, directory));
  }

  /**
   * Without those of a database that was here before. A clock that is behind cannot tell them from
   * those that this one makes now: all of them count then, and none of these is removed.
   */
  function ownFiles(names: readonly string[]): BackupFile[] {
    return findBackups(names, stem).filter(
      (file) => isClockBehind() || isSince(file, beganMs ?? 0),
    );
  }

  /** Makes one backup, and removes the oldest ones. */
  async function backUp(): Promise<BackupFailure | 'made' | 'stopped'> {
    // Behind a link, its log is beside the target.
    const database = await realpath(options.database).catch(() => options.database);
    if ((await spareBytes(directory)) < (await databaseBytes(database))) return 'space';
    const name = backupName(stem, clock());
    const run = options.run(join(directory, name));
    running = run;
    let isFull = false;
    const guard = async (folder: string): Promise<void> => {
      if ((await spareBytes(folder)) >= 0) return;
      isFull = true;
      run.stop();
    };
    // Each for itself: the copy keeps the log of the database from being emptied, so the log grows
    // while the other disk does not answer.
    const stopWatching = [
      () => guard(dirname(database)),
      () => guard(directory),
      () => flush(join(directory, `${name}${PARTIAL}`)),
    ].map((watch) => every(WATCH_MS, watch, () => undefined));
    const report = await run.report;
    for (const stop of stopWatching) stop();
    running = undefined;
    if (isStopped) return 'stopped';
    // The executable was replaced, and the server was not restarted.
    const isUnaudited = report.kind === 'made' && report.differences === null;
    if (isUnaudited) await keepUnverified(name);
    await refresh();
    if (isFull) return 'space';
    if (report.kind === 'failed') {
      log.error(`backup: ${report.message}`);
      return FAILURES.get(report.code ?? '') ?? 'failed';
    }
    done.bytes = report.bytes;
    await prune(name);
    if (report.differences === null) return 'unaudited';
    if (report.differences > 0) return 'differences';
    log.info(`backup: wrote ${join(directory, name)}, ${report.bytes} bytes`);
    return 'made';
  }

  async function keepUnverified(name: string): Promise<void> {
    const path = join(directory, name);
    await rename(path, `${path}${UNVERIFIED}`);
  }

  async function prune(made: string): Promise<void> {
    const own = (files ?? []).filter((file) => isSince(file, beganMs ?? 0));
    for (const { name } of prunable(own, options.keep, made, clock())) {
      await rm(join(directory, name), { force: true });
    }
    files = ownFiles(await readdir(directory));
  }

  return {
    start() {
      const stopLooking = every(options.lookMs ?? LOOK_MS, look);
      return () => {
        isStopped = true;
        stopLooking();
        running?.stop();
        release?.();
        release = undefined;
      };
    },
    warnings() {
      const at = newestMs();
      const ageMs = at === undefined ? undefined : clock() - at;
      const warnings: Sentence[] = [];
      if (failure !== undefined) warnings.push(say('the last backup failed', {}, BACKUPS));
      if (files === undefined) return warnings;
      if (isClockBehind()) warnings.push(BEHIND);
      if (ageMs === undefined) warnings.push(say('there is no verified backup', {}, BACKUPS));
      else if (ageMs > everyMs * (1 + LATE_SHARE) + RETRY_MS) {
        warnings.push(say('the newest backup is {age} old', { age: sayAge(ageMs) }, BACKUPS));
      }
      return warnings;
    },
    state: () => ({
      ...done,
      newestMs: newestMs(),
      kept: files?.filter(({ verified }) => verified).length ?? 0,
    }),
  };
}

/** Codes of `tollgate backup`; others are `failed`. */
const FAILURES: ReadonlyMap<string, BackupFailure> = new Map([
  ['backup_no_space', 'space'],
  ['backup_damaged', 'damaged'],
  ['file_not_writable', 'folder'],
]);

const BEHIND = say(
  'the clock is behind the time at which the database began, so new backups are never removed',
  {},
  BACKUPS,
);

function olderText(count: number, directory: string): string {
  return `backup: ${directory} has backups that are older than this database or its restore (${count}). They do not count and are never removed: delete those that you do not need. If this database should not be new, stop the server and restore one of them: tollgate restore FILE`;
}

/** Writes what is there to the disk: all of it at the end would delay the commits of the ledger. */
async function flush(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.datasync();
  } finally {
    await file.close();
  }
}
