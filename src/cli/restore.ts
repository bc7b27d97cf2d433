// `tollgate restore FILE`: puts a backup into the place of the database. Refuses while a server runs
// on it, and first says what the present database has and the backup lacks. The replaced file is
// kept.

import { closeSync, existsSync, mkdirSync, realpathSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import { messageOf } from '../core/message-of.ts';
import { formatTokens } from '../core/money.ts';
import { checkCopy, type Differences } from '../operations/backup.ts';
import { compareWithCopy, markRestored, type Newer } from '../operations/restore.ts';
import { databaseFile } from '../store/connect.ts';
import type { SqliteDatabase } from '../store/database.ts';
import { NewerDatabase, StoreError, sqliteCode } from '../store/error.ts';
import { ownDatabase, realDatabasePath } from '../store/owner.ts';
import { copyInto, openCopy } from '../store/sqlite-copy.ts';
import {
  absorbLog,
  asideName,
  logsOf,
  openPresent,
  replaceDatabase,
  requireUnchanged,
  stateOf,
} from '../store/sqlite-replace.ts';
import { addCommand, CommandError, type Output, type Perform, shortTime } from './command.ts';
import type { Context } from './context.ts';
import { createFile } from './new-file.ts';

type Options = { readonly yes?: boolean };

/** The database that is there: what it has more, or why it cannot be read; `none` without one. */
type Present =
  | { readonly kind: 'none' }
  | { readonly kind: 'unreadable'; readonly cause: string }
  | { readonly kind: 'compared'; readonly newer: Newer };

export function addRestoreCommand(program: Command, perform: Perform): void {
  perform<Options>(
    addCommand(
      program,
      'restore <file>',
      'replace the database by a backup, and keep the old one',
    ).option('--yes', 'replace a database that is there; without it, only say what would be lost'),
    restore,
  );
}

async function restore(context: Context, { yes }: Options, file = ''): Promise<Output> {
  const source = resolve(context.directory, file);
  const { databaseUrl: url } = context.config();
  if (databaseFile(url) === undefined) {
    throw new CommandError(
      'restore_unsupported',
      'The database is PostgreSQL. Restore it with its own tools: pg_restore, or a base backup and the WAL archive.',
    );
  }
  const path = realDatabasePath(url);
  refuseUnusable(source, path);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const release = ownDatabase(url);
  const replacement = `${path}.restoring`;
  try {
    const differences = await prepare(source, replacement);
    const present = await lookAt(path, replacement, yes === true);
    const seen = stateOf(path);
    const isAllowed = yes === true || present.kind === 'none';
    const name = asideName(path, context.clock());
    const aside = isAllowed && existsSync(path) ? name : undefined;
    const logs = isAllowed ? logsOf(path).map((suffix) => `${name}${suffix}`) : [];
    if (isAllowed) {
      await mark(context, replacement, source, {
        kept_as: aside ?? null,
        ...(present.kind === 'compared' ? newerRecord(present.newer) : {}),
      });
      replaceDatabase(path, replacement, { aside: name, seen });
    }
    return restoreOutput({ source, path, aside, logs, present, differences, isAllowed });
  } finally {
    for (const suffix of ['', '-journal', '-wal', '-shm'])
      rmSync(`${replacement}${suffix}`, { force: true });
    release();
  }
}

function refuseUnusable(source: string, path: string): void {
  if (!existsSync(source)) {
    throw new CommandError('file_not_usable', `There is no file ${source}.`);
  }
  if (realpathSync(source) !== path) return;
  throw new CommandError('file_not_usable', `${source} is the database itself. Name a backup.`);
}

/** Writes and checks what will be in place. */
async function prepare(source: string, replacement: string): Promise<Differences> {
  // A restore that was killed has left it.
  rmSync(replacement, { force: true });
  closeSync(createFile(replacement, 'Remove it.'));
  await copySource(source, replacement);
  const check = await checkCopy(replacement).catch((error: unknown) => {
    throw error instanceof NewerDatabase ? fromNewerVersion(source) : error;
  });
  if (check.kind === 'damaged') throw damaged(source);
  if (check.kind === 'foreign') throw foreign(source);
  return check.differences;
}

async function copySource(source: string, replacement: string): Promise<void> {
  let copy: SqliteDatabase | undefined;
  try {
    copy = openCopy(source);
    copyInto(copy, replacement);
  } catch (error) {
    const code = sqliteCode(error instanceof StoreError ? error.cause : error);
    if (code?.startsWith('SQLITE_CORRUPT') === true) throw damaged(source);
    throw code === 'SQLITE_NOTADB' ? foreign(source) : error;
  } finally {
    await copy?.close();
  }
}

function damaged(source: string): CommandError {
  return new CommandError(
    'backup_damaged',
    `${source} is damaged. Nothing was changed; use an earlier backup.`,
  );
}

function fromNewerVersion(source: string): CommandError {
  return new CommandError(
    'backup_newer',
    `A newer version of Tollgate made ${source}. Nothing was changed; restore it with that version, or name a backup from before the upgrade.`,
  );
}

function foreign(source: string): CommandError {
  return new CommandError(
    'backup_foreign',
    `${source} is not a database of Tollgate. Nothing was changed; name a backup.`,
  );
}

async function mark(
  { clock, randomBytes }: Context,
  replacement: string,
  source: string,
  detail: Parameters<typeof markRestored>[2],
): Promise<void> {
  const database = openPresent(replacement);
  try {
    const change = { database, clock, randomBytes, actor: 'operator' };
    await markRestored(change, basename(source), { file: source, ...detail });
    absorbLog(database);
  } finally {
    await database.close();
  }
}

/** Compares the two. Moves the log of the present one into its file where that is to be replaced. */
async function lookAt(path: string, replacement: string, isReplaced: boolean): Promise<Present> {
  if (!existsSync(path) || statSync(path).size === 0) return { kind: 'none' };
  let database: SqliteDatabase | undefined;
  try {
    database = openPresent(path);
    const seen = stateOf(path);
    const newer = compareWithCopy(database, replacement);
    if (isReplaced) {
      requireUnchanged(path, seen);
      absorbLog(database);
    }
    return { kind: 'compared', newer };
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return { kind: 'unreadable', cause: messageOf(error) };
  } finally {
    await database?.close();
  }
}

/** A damaged file is a reason to restore; one that another process has open is not. */
function isUnreadable(error: unknown): boolean {
  const code = sqliteCode(error instanceof StoreError ? error.cause : error) ?? '';
  return /^SQLITE_(CORRUPT|NOTADB|ERROR|IOERR|FORMAT)/.test(code);
}

type Restored = {
  readonly source: string;
  readonly path: string;
  readonly aside: string | undefined;
  /** Where the logs are that were beside the path. */
  readonly logs: readonly string[];
  readonly present: Present;
  readonly differences: Differences;
  readonly isAllowed: boolean;
};

function restoreOutput(restored: Restored): Output {
  const { source, path, aside, logs, present, differences, isAllowed } = restored;
  const lines = [
    ...presentLines(present),
    ...booksLines(differences),
    ...(isAllowed
      ? [
          `${path} is now the database of ${source}. All sessions have ended.`,
          ...(aside ? [`The old one is ${aside}.`] : []),
          ...logs.map((log) => `What SQLite had logged beside it is ${log}.`),
        ]
      : ['Nothing was changed. To replace the database, run the command again with --yes.']),
  ];
  const json = {
    restore: {
      file: source,
      database: path,
      replaced: isAllowed,
      kept_as: aside ?? null,
      kept_logs: logs,
      differences,
      present: present.kind,
      newer: present.kind === 'compared' ? newerRecord(present.newer) : null,
    },
  };
  return { json, text: lines.join('\n'), exitCode: isAllowed ? 0 : 1 };
}

function booksLines(differences: Differences): string[] {
  if (differences === 0) return [];
  if (differences !== null) return [`The books of the backup have ${differences} differences.`];
  return [
    'The backup is of an earlier version, so its books were not audited. This version migrates it when it starts.',
  ];
}

function presentLines(present: Present): string[] {
  if (present.kind === 'none') return [];
  if (present.kind === 'unreadable') {
    return [
      `The present database cannot be read, so what it has more is unknown: ${present.cause}`,
    ];
  }
  const { newer } = present;
  const { requests, movements, accounts, keys, foreign, copyEndsAt } = newer;
  const some = (count: number, words: string): string[] =>
    count === 0 ? [] : [`  ${count} ${words}`];
  const until = copyEndsAt === undefined ? 'has no entries' : `ends ${shortTime(copyEndsAt)} UTC`;
  return [
    `The backup ${until}. The present database has, and the backup lacks:`,
    `  ${requests} requests, which took ${formatTokens(newer.debited)} service tokens from balances`,
    `  ${movements} credits and corrections of ${formatTokens(newer.credited)} service tokens in all`,
    `  ${accounts} accounts and ${keys} keys`,
    ...some(
      newer.revocations,
      'revocations: these keys, tokens and invitations would be accepted again; revoke them again',
    ),
    ...some(
      newer.restrictions,
      'blocks, suspended accounts, and keys that were paused or end: all would be free again; restrict them again',
    ),
    ...some(
      newer.operators,
      'operators who were removed, or have another role or second factor: all would be as they were; change them again',
    ),
    ...some(
      newer.deletions,
      "deletions of accounts: their owners' data would be back; delete them again",
    ),
    ...(foreign === 0
      ? []
      : [
          `The backup has ${foreign} entries that the present database lacks: they were archived since, or the backup is of another installation.`,
        ]),
  ];
}

function newerRecord(newer: Newer): Record<string, string | number | null> {
  return {
    requests: newer.requests,
    debited_tokens: formatTokens(newer.debited),
    movements: newer.movements,
    credited_tokens: formatTokens(newer.credited),
    accounts: newer.accounts,
    keys: newer.keys,
    revocations: newer.revocations,
    restrictions: newer.restrictions,
    operators: newer.operators,
    deletions: newer.deletions,
    backup_ends_at:
      newer.copyEndsAt === undefined ? null : new Date(newer.copyEndsAt).toISOString(),
    foreign_entries: newer.foreign,
  };
}
