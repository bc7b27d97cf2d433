// `tollgate backup FILE`: a consistent copy of the database beside a running server, checked after
// it was written. Never overwrites a file.

import { closeSync, fsyncSync, openSync, rmSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { isSqlite, openDatabase } from '../store/database.ts';
import { addCommand, CommandError, type Output, type Perform } from './command.ts';
import type { Context } from './context.ts';
import { createFile } from './new-file.ts';

export function addBackupCommand(program: Command, perform: Perform): void {
  perform(
    addCommand(program, 'backup <file>', 'copy the database to a new file and check it'),
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
        'The database is PostgreSQL. Back it up with its own tools: pg_dump for a snapshot, WAL archiving for point-in-time recovery.',
      );
    }
    // SQLite writes into the empty file.
    closeSync(createFile(path, 'A backup never overwrites a file; give another name.'));
    try {
      source.connection.run('VACUUM INTO ?', [path]);
      await checkCopy(path);
    } catch (error) {
      rmSync(path, { force: true });
      throw error;
    }
  } finally {
    await source.close();
  }
  const bytes = statSync(path).size;
  return {
    json: { backup: { file: path, bytes, integrity: 'ok' } },
    text: `Copied ${bytes} bytes to ${path}; the copy is intact.`,
  };
}

async function checkCopy(path: string): Promise<void> {
  const copy = openDatabase({ url: `sqlite:${path}`, sync: 'full', readonly: true });
  try {
    const rows = copy.connection
      .query<{ integrity_check: string }, []>('PRAGMA integrity_check')
      .all();
    if (rows.length !== 1 || rows[0]?.integrity_check !== 'ok') {
      throw new CommandError(
        'backup_damaged',
        'The copy is damaged and was removed. Run tollgate doctor: the database itself may be too.',
      );
    }
  } finally {
    await copy.close();
  }
  const descriptor = openSync(path, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}
