// Opens the SQLite file. A thread has one connection: a server one for its requests and one for the
// ledger, a command a single one. Transactions are synchronous and immediate: an asynchronous one
// would commit at its first await.

import { Database as Connection } from 'bun:sqlite';
import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
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
   * Whether commits may copy the log into the database, which takes as long as the disk needs; true
   * where absent. A server leaves that to its ledger, so that its event loop never waits for it.
   */
  readonly checkpoints?: boolean;
};

export type Database = {
  readonly db: Queries;
  readonly connection: Connection;
  /**
   * Runs `work` in one immediate transaction: committed when it returns, rolled back when it
   * throws. `work` must not be asynchronous, and transactions do not nest; both are refused.
   */
  readonly transaction: <T>(work: (tx: Queries) => T) => T;
  /**
   * A transaction that waits for no disk, however the connection syncs: for what strangers make us
   * write, and what may be lost with the power. It survives the death of the process.
   */
  readonly quickly: <T>(work: (tx: Queries) => T) => T;
  /** Inside a transaction: undoes what `work` wrote when it throws, and nothing else. */
  readonly savepoint: <T>(work: () => T) => T;
  /** Runs reads that see one state of the database, without keeping writers out. */
  readonly snapshot: <T>(read: (tx: Queries) => T) => T;
  /** Changes when another connection or process commits; says nothing about our own commits. */
  readonly foreignCommits: () => number;
  readonly close: () => void;
};

/** The indexes' upper pages stay in memory; it is filled as it is needed. */
const CACHE_KILOBYTES = 32_768;

/** The log is copied into the database at this length: rarely, because commits wait for it. */
const CHECKPOINT_PAGES = 4_000;

/** How long a statement waits for the lock of another process. */
const BUSY_TIMEOUT_MS = 5_000;
const BUSY_RETRY_MS = 10;

/** Opens the database, and creates directory and file where they are missing. Throws `StoreError`. */
export function openDatabase(options: DatabaseOptions): Database {
  const path = databasePath(options.url);
  const readonly = options.readonly ?? false;
  if (!readonly) createFile(path);
  else if (!existsSync(path)) throw new StoreError(`There is no database at ${path}.`);
  let connection: Connection;
  try {
    connection = connect(path, readonly, options);
  } catch (cause) {
    throw openFailure(path, cause);
  }
  const db: Queries = drizzle(connection);
  const version = connection.query<{ data_version: bigint }, []>('PRAGMA data_version');
  return {
    db,
    connection,
    transaction: (work) => inTransaction(connection, 'IMMEDIATE', () => work(db)),
    quickly: (work) => withoutSync(connection, options.sync, () => work(db)),
    savepoint: (work) => atSavepoint(connection, work),
    snapshot: (read) => inTransaction(connection, 'DEFERRED', () => read(db)),
    foreignCommits: () => Number(version.get()?.data_version ?? 0),
    close: () => connection.close(),
  };
}

/** The file that a URL names. Throws `StoreError`. */
export function databasePath(url: string): string {
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

function connect(path: string, readonly: boolean, options: DatabaseOptions): Connection {
  const { sync, checkpoints = true } = options;
  const mode = readonly ? { readonly: true } : { readwrite: true, create: false };
  const connection = new Connection(path, { ...mode, strict: true, safeIntegers: true });
  try {
    connection.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    if (!readonly) useLog(connection);
    useSync(connection, sync);
    connection.run('PRAGMA foreign_keys = ON');
    connection.run(`PRAGMA cache_size = -${CACHE_KILOBYTES}`);
    connection.run(`PRAGMA wal_autocheckpoint = ${checkpoints ? CHECKPOINT_PAGES : 0}`);
    connection.query('SELECT count(*) FROM sqlite_schema').get();
    return connection;
  } catch (cause) {
    connection.close();
    throw cause;
  }
}

/** A new file gets its log once; there SQLite does not wait for another process, so we do. */
function useLog(connection: Connection): void {
  for (let waitedMs = 0; ; waitedMs += BUSY_RETRY_MS) {
    try {
      connection.run('PRAGMA journal_mode = WAL');
      return;
    } catch (cause) {
      const busy = sqliteCode(cause)?.startsWith('SQLITE_BUSY') === true;
      if (!busy || waitedMs >= BUSY_TIMEOUT_MS) throw cause;
      Bun.sleepSync(BUSY_RETRY_MS);
    }
  }
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

function withoutSync<T>(connection: Connection, sync: SyncMode, work: () => T): T {
  useSync(connection, 'normal');
  try {
    return inTransaction(connection, 'IMMEDIATE', work);
  } finally {
    useSync(connection, sync);
  }
}

function useSync(connection: Connection, sync: SyncMode): void {
  connection.run(`PRAGMA synchronous = ${sync === 'full' ? 'FULL' : 'NORMAL'}`);
}

function atSavepoint<T>(connection: Connection, work: () => T): T {
  connection.run('SAVEPOINT inner_work');
  try {
    const result = work();
    connection.run('RELEASE inner_work');
    return result;
  } catch (cause) {
    // A failed write may have ended the whole transaction already.
    if (connection.inTransaction) {
      connection.run('ROLLBACK TO inner_work');
      connection.run('RELEASE inner_work');
    }
    throw cause;
  }
}
