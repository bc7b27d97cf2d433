// `tollgate compact`: rewrites a SQLite database without its free space, which archived requests leave
// in the file. Refuses while a server runs, because nothing can be booked while SQLite rewrites it.

import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { isSqlite } from '../store/database.ts';
import { sqliteCode } from '../store/error.ts';
import { ownDatabase, realDatabasePath } from '../store/owner.ts';
import { rewrite } from '../store/sqlite-space.ts';
import { addCommand, CommandError, type Output, type Perform } from './command.ts';
import type { Context } from './context.ts';

export function addCompactCommand(program: Command, perform: Perform): void {
  perform(
    addCommand(program, 'compact', 'give the free space of a SQLite database back to the disk'),
    compact,
  );
}

async function compact(context: Context): Promise<Output> {
  const { databaseUrl: url } = context.config();
  // Read-only first: a missing file must not be created.
  await context.openDatabase({ readonly: true }).close();
  const database = context.openDatabase({ readonly: false });
  try {
    if (!isSqlite(database)) {
      throw new CommandError(
        'compact_unsupported',
        'The database is PostgreSQL. Its autovacuum frees space for new rows; VACUUM FULL gives it back to the disk.',
      );
    }
    const release = ownDatabase(url);
    try {
      const path = realDatabasePath(url);
      const before = statSync(path).size;
      rewrite(database);
      const after = statSync(path).size;
      return {
        json: { compact: { database: path, bytes_before: before, bytes_after: after } },
        text: `${path} has ${after} bytes; it had ${before}.`,
      };
    } finally {
      release();
    }
  } catch (error) {
    throw sqliteCode(error) === 'SQLITE_FULL' ? noSpace() : error;
  } finally {
    await database.close();
  }
}

function noSpace(): CommandError {
  return new CommandError(
    'compact_no_space',
    'The disk has too little space, and the database is as it was. SQLite needs as much as the compacted database has, beside it and in the folder of SQLITE_TMPDIR or /var/tmp.',
  );
}
