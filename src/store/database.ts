// Opens the SQLite file and gives out the one connection of this process. Transactions are
// synchronous and immediate: an asynchronous one would commit at its first await.

import { Database as Connection } from 'bun:sqlite';
import { chmodSync, closeSync, existsSync, fdatasync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { type BunSQLiteDatabase, drizzle } from 'drizzle-orm/bun-sqlite';
import { StoreError, sqliteCode } from './error.ts';

/** Queries on the connection; inside a transaction, part of it. */
export type Queries = BunSQLiteDatabase;

export type SyncMode = 'full' | 'normal';

export type DatabaseOptions = {
  /** `sqlite:./data/tollgate.db`; relative to the working directory. */
  readonly url: string;
  /** `full` survives a power cut, `normal` only the death of the process. */
  readonly sync: SyncMode;
  /** Refuses to write and to create. */
  readonly readonly?: boolean;
  /**
   * With `sync: 'full'`, commits return before they are on disk, and whoever promised something
   * awaits `sync()`: the event loop goes on while the disk works, and commits share its turns.
   */
  readonly deferSync?: boolean;
};

export type Database = {
  readonly db: Queries;
  readonly connection: Connection;
  /**
   * Runs `work` in one immediate transaction: committed when it returns, rolled back when it
   * throws. `work` must not be asynchronous, and transactions do not nest; both are refused.
   */
  readonly transaction: <T>(work: (tx: Queries) => T) => T;
  /** Runs reads that see one state of the database, without keeping writers out. */
  readonly snapshot: <T>(read: (tx: Queries) => T) => T;
  /** Resolves when all that is committed survives a power cut; absent where commits wait for that. */
  readonly sync: (() => Promise<void>) | undefined;
  /** Changes when another connection or process commits; says nothing about our own commits. */
  readonly foreignCommits: () => number;
  readonly close: () => void;
};

/** The indexes' upper pages stay in memory; it is filled as it is needed. */
const CACHE_KILOBYTES = 32_768;

/** The log is copied into the database at this length: rarely, because that stops the loop. */
const CHECKPOINT_PAGES = 4_000;

/** How long a statement waits for the lock of another process. */
const BUSY_TIMEOUT_MS = 5_000;

/** Opens the database, and creates directory and file where they are missing. Throws `StoreError`. */
export function openDatabase(options: DatabaseOptions): Database {
  const path = databasePath(options.url);
  const readonly = options.readonly ?? false;
  const defers = options.sync === 'full' && options.deferSync === true;
  if (!readonly) createFile(path);
  else if (!existsSync(path)) throw new StoreError(`There is no database at ${path}.`);
  let connection: Connection;
  try {
    connection = connect(path, readonly, defers ? 'normal' : options.sync);
  } catch (cause) {
    throw openFailure(path, cause);
  }
  const db: Queries = drizzle(connection);
  const log = createLogSync(`${path}-wal`);
  const version = connection.query<{ data_version: bigint }, []>('PRAGMA data_version');
  return {
    db,
    connection,
    transaction: (work) => inTransaction(connection, 'IMMEDIATE', () => work(db)),
    snapshot: (read) => inTransaction(connection, 'DEFERRED', () => read(db)),
    sync: defers ? log.sync : undefined,
    foreignCommits: () => Number(version.get()?.data_version ?? 0),
    close() {
      connection.close();
      log.close();
    },
  };
}

function databasePath(url: string): string {
  const match = /^sqlite:(?:\/\/)?(?!:memory:)([^?#]+)$/.exec(url);
  if (match?.[1] === undefined) {
    throw new StoreError(
      'DATABASE_URL does not name a SQLite file. Write it as sqlite:./data/tollgate.db.',
    );
  }
  return resolve(match[1]);
}

/** The file holds e-mail addresses and balances: nobody but its owner reads it. */
function createFile(path: string): void {
  if (existsSync(path)) return;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    closeSync(openSync(path, 'a', 0o600));
    chmodSync(path, 0o600);
  } catch (cause) {
    throw new StoreError(
      `The database file ${path} cannot be created. Check that its directory can be written by this user.`,
      { cause },
    );
  }
}

function connect(path: string, readonly: boolean, sync: SyncMode): Connection {
  const mode = readonly ? { readonly: true } : { readwrite: true, create: false };
  const connection = new Connection(path, { ...mode, strict: true, safeIntegers: true });
  try {
    connection.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    if (!readonly) connection.run('PRAGMA journal_mode = WAL');
    connection.run(`PRAGMA synchronous = ${sync === 'full' ? 'FULL' : 'NORMAL'}`);
    connection.run('PRAGMA foreign_keys = ON');
    connection.run(`PRAGMA cache_size = -${CACHE_KILOBYTES}`);
    connection.run(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    connection.query('SELECT count(*) FROM sqlite_schema').get();
    return connection;
  } catch (cause) {
    connection.close();
    throw cause;
  }
}

/**
 * Syncs the write-ahead log from outside. What is committed lies in the log until a checkpoint, and
 * SQLite's NORMAL mode syncs it before each of those itself, so this is all that FULL does beyond
 * it. The log keeps its file for as long as a connection is open. A file of its own is opened for
 * it, which is safe for the log alone: closing the database's own file would drop SQLite's locks.
 */
function createLogSync(path: string): { sync: () => Promise<void>; close: () => void } {
  let file: number | undefined;
  return {
    sync() {
      file ??= openSync(path, 'r');
      const descriptor = file;
      return new Promise((resolve, reject) => {
        fdatasync(descriptor, (cause) => (cause === null ? resolve() : reject(cause)));
      });
    },
    close() {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}

function openFailure(path: string, cause: unknown): StoreError {
  const code = sqliteCode(cause) ?? '';
  if (code === 'SQLITE_NOTADB') {
    return new StoreError(
      `${path} is not a SQLite database. Point DATABASE_URL at another file, or move this one away.`,
      { cause },
    );
  }
  if (code.startsWith('SQLITE_BUSY')) {
    return new StoreError(
      `The database ${path} is locked by another process. Wait for it to end, then try again.`,
      { cause },
    );
  }
  if (code.startsWith('SQLITE_READONLY')) {
    return new StoreError(
      `The database ${path} cannot be written by this user. Check the permissions of the file and its directory.`,
      { cause },
    );
  }
  if (code.startsWith('SQLITE_CORRUPT')) {
    return new StoreError(
      `The database ${path} is damaged. Keep a copy of it, and restore a backup.`,
      { cause },
    );
  }
  return new StoreError(
    `The database ${path} cannot be opened. Check that it is a file which this user may read and write, in a directory which this user may write.`,
    { cause },
  );
}

function inTransaction<T>(
  connection: Connection,
  mode: 'IMMEDIATE' | 'DEFERRED',
  work: () => T,
): T {
  if (connection.inTransaction) throw new StoreError('A transaction is already open.');
  connection.run(`BEGIN ${mode}`);
  try {
    const result = work();
    if (result instanceof Promise) {
      result.catch(() => undefined);
      throw new StoreError('A transaction must not be asynchronous.');
    }
    connection.run('COMMIT');
    return result;
  } catch (cause) {
    // A failed write may have ended the transaction already.
    if (connection.inTransaction) connection.run('ROLLBACK');
    throw cause;
  }
}

/**
 * Calls `onChange` within about `everyMs` of a commit by another connection or process, so that a
 * running server takes up what the command line changed. Returns the function that stops it.
 */
export function watchForeignCommits(
  database: Database,
  everyMs: number,
  onChange: () => void,
): () => void {
  let seen = database.foreignCommits();
  const timer = setInterval(() => {
    const current = look(database);
    if (current === undefined || current === seen) return;
    seen = current;
    onChange();
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** A look that fails is no reason to fall over: the next one comes in a moment. */
function look(database: Database): number | undefined {
  try {
    return database.foreignCommits();
  } catch {
    return undefined;
  }
}
