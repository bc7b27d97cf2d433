// `tollgate backup FILE`: a consistent copy of the database beside a running server, checked and
// audited before it gets its name. Never overwrites a file. A server runs it for BACKUP_DIR.

import { closeSync, existsSync, rmSync, statSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { PARTIAL, UNVERIFIED } from '../core/backup-files.ts';
import { errorCodeOf } from '../core/message-of.ts';
import { checkCopy, type Differences } from '../operations/backup.ts';
import { isSqlite, type SqliteDatabase } from '../store/database.ts';
import { copyInto, publishFile } from '../store/sqlite-copy.ts';
import { addCommand, CommandError, type Output, type Perform } from './command.ts';
import type { Context } from './context.ts';
import { createFile, fileExists } from './new-file.ts';

const HINT = 'A backup never overwrites a file; give another name.';

export function addBackupCommand(program: Command, perform: Perform): void {
  perform(
    addCommand(program, 'backup <file>', 'copy the database to a new file, and audit the copy'),
    backup,
  );
}

async function backup(context: Context, _options: object, file = ''): Promise<Output> {
  const path = resolve(context.directory, file);
  const source = context.openDatabase({ readonly: true });
  try {
    if (!isSqlite(source)) {
      throw new CommandError(
        'backup_unsupported',
        'The database is PostgreSQL. Back it up with its own tools: pg_dump for a snapshot, base backups with WAL archiving for point-in-time recovery.',
      );
    }
    if (existsSync(path)) throw fileExists(path, HINT);
    return await writeBackup(source, path);
  } finally {
    await source.close();
  }
}

async function writeBackup(source: SqliteDatabase, path: string): Promise<Output> {
  const partial = `${path}${PARTIAL}`;
  // SQLite writes into the empty file.
  closeSync(createFile(partial, 'An earlier backup was interrupted; remove the file.'));
  try {
    copyInto(source, partial);
    yieldMore();
    const check = await checkCopy(partial);
    if (check.kind === 'damaged') {
      throw new CommandError(
        'backup_damaged',
        'The copy is damaged and was removed. Run tollgate doctor: the database itself may be too.',
      );
    }
    if (check.kind === 'foreign') {
      throw new CommandError(
        'backup_foreign',
        'The database has no tables of Tollgate, so there is nothing to back up. Check DATABASE_URL.',
      );
    }
    const { differences } = check;
    const made = isWrong(differences) ? `${path}${UNVERIFIED}` : path;
    publish(partial, made);
    return backupOutput(made, differences);
  } catch (error) {
    throw isFull(error) ? noSpace(partial) : error;
  } finally {
    for (const suffix of ['', '-journal']) rmSync(`${partial}${suffix}`, { force: true });
  }
}

/**
 * Started with a low priority, the process takes the lowest one for the rest: nothing waits for its
 * audit, and the log of the database no longer grows because of it.
 */
function yieldMore(): void {
  if (getPriority() <= 0) return;
  try {
    setPriority(constants.priority.PRIORITY_LOW);
  } catch {
    // The system does not allow it; the audit is as good.
  }
}

function publish(partial: string, path: string): void {
  try {
    publishFile(partial, path);
  } catch (error) {
    throw errorCodeOf(error) === 'EEXIST' ? fileExists(path, HINT) : error;
  }
}

/** The disk of the copy; that of the database is not written. */
function isFull(error: unknown): boolean {
  return /^(SQLITE_FULL|ENOSPC|EDQUOT)$/.test(errorCodeOf(error));
}

function noSpace(path: string): CommandError {
  return new CommandError(
    'backup_no_space',
    `The copy does not fit on the disk of ${path}, and was removed. Free some space, or give a file on another disk.`,
  );
}

function isWrong(differences: Differences): boolean {
  return differences !== null && differences > 0;
}

function backupOutput(path: string, differences: Differences): Output {
  const bytes = statSync(path).size;
  return {
    json: { backup: { file: path, bytes, integrity: 'ok', differences } },
    text: `Copied ${bytes} bytes to ${path}; the copy is intact, ${booksWords(differences)}`,
    exitCode: isWrong(differences) ? 1 : 0,
  };
}

function booksWords(differences: Differences): string {
  if (differences === 0) return 'and its books are right.';
  if (differences === null) {
    return 'but its books are of an earlier version and were not audited. The version that serves them audits its copies.';
  }
  return `but its books have ${differences} differences, as the database has. Run tollgate doctor.`;
}
