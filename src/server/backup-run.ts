// Runs one automatic backup: `tollgate backup FILE` of this same program as a child process. A
// process can be ended at once while SQLite copies, has its own memory, and can have a low priority
// on every system; a thread has none of these.

import { getPriority, setPriority } from 'node:os';
import { parseJson } from '../core/json.ts';
import type { Differences } from '../operations/backup.ts';
import { ownCommand, systemVariables } from './runtime.ts';

/**
 * How much nicer than the server it is: it yields the processor and, on Linux, the disk. More would
 * stretch the copy on a busy machine, and the log of the database grows as long as it takes.
 */
const NICER = 10;
const NICENESS_MAX = 19;

export type BackupReport =
  | { readonly kind: 'made'; readonly bytes: number; readonly differences: Differences }
  /** `code` is that of the command's error; absent where the process died. */
  | { readonly kind: 'failed'; readonly code?: string; readonly message: string };

export type BackupRun = {
  /** Never rejects. */
  readonly report: Promise<BackupReport>;
  /** Ends the process; nothing of it writes afterwards. */
  readonly stop: () => void;
};

export type RunBackup = (path: string) => BackupRun;

/** Returns the function that backs up this database. */
export function createBackupRunner(databaseUrl: string): RunBackup {
  return (path) => {
    const child = Bun.spawn([...ownCommand(), 'backup', path, '--json'], {
      env: backupEnvironment(databaseUrl),
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    lowerPriority(child.pid);
    return {
      report: readReport(child).catch((error: unknown) => ({
        kind: 'failed',
        message: String(error),
      })),
      stop: () => child.kill('SIGKILL'),
    };
  };
}

/** The settings of the server, not those that its .env file has by now; and no secret. */
function backupEnvironment(databaseUrl: string): Record<string, string> {
  return { ...systemVariables(), DATABASE_URL: databaseUrl, TOLLGATE_ENV_FILE: '/dev/null' };
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, Math.min(NICENESS_MAX, getPriority() + NICER));
  } catch {
    // It has ended already, or the system does not allow it; the backup is as good.
  }
}

async function readReport(child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>): Promise<BackupReport> {
  const [stdout, stderr] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  const made = parseJson(stdout) as
    | { backup?: { bytes: number; differences: Differences } }
    | undefined;
  if (made?.backup !== undefined) {
    const { bytes, differences } = made.backup;
    return { kind: 'made', bytes, differences };
  }
  const failed = parseJson(stderr) as { error?: { code: string; message: string } } | undefined;
  if (failed?.error !== undefined) return { kind: 'failed', ...failed.error };
  const how = child.signalCode ?? `exit code ${child.exitCode}`;
  return { kind: 'failed', message: `the process ended with ${how}` };
}
