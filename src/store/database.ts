// Opens a SQLite file behind the store's contract. A thread has one connection per purpose: a
// server one for its requests and one for the ledger, a command a single one. SQLite answers at
// once; queries only wait while another task's transaction is open.

import { Database as Connection, type SQLQueryBindings } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { SQL } from 'drizzle-orm';
import { SQLiteAsyncDialect } from 'drizzle-orm/sqlite-core';
import type { Awaitable } from '../async/awaitable.ts';
import { createBuilder } from './builder.ts';
import type { Database, Query, Statement, SyncMode } from './contract.ts';
import { StoreError, sqliteCode } from './error.ts';
import { createDatabaseFile } from './sqlite-file.ts';
import { createBinder } from './statement.ts';
import { type AccessMode, createTransactions, type Transactions } from './transactions.ts';
import { joinTurns } from './write-turns.ts';
import type { Ask } from './writer/protocol.ts';

export type DatabaseOptions = {
  /** `sqlite:./data/tollgate.db`; relative to the working directory. */
  readonly url: string;
  /** `full` survives a power cut, `normal` only the death of the process. */
  readonly sync: SyncMode;
  /** Refuses to write and to create. */
  readonly readonly?: boolean;
  /** Creates an empty database although there was one before, and refuses an existing one. */
  readonly isNew?: boolean;
  /**
   * Whether commits may checkpoint the log, which waits for the disk; default: true. A server
   * leaves that to its ledger, so that its event loop never waits for it.
   */
  readonly checkpoints?: boolean;
  /** False for a new file that is removed if it cannot be finished; default: true. */
  readonly log?: boolean;
  /** Lets statements run long, for reports and audits. PostgreSQL cancels others after a limit. */
  readonly patient?: boolean;
  /** On PostgreSQL: for a few hot statements that look up few rows. */
  readonly byIndex?: boolean;
  /**
   * Whether SQLite may block the thread while another thread or process holds its lock; default:
   * true. False in every thread that serves.
   */
  readonly waits?: boolean;
  /**
   * How long its transactions let those of other connections of this thread go first, in
   * milliseconds; default: without a limit.
   */
  readonly patienceMs?: number;
};

/** A database in a file, with the access that only SQLite has. */
export type SqliteDatabase = Database & {
  readonly connection: Connection;
  /** For statements that run only inside the caller's transaction, which is not checked. */
  readonly prepareWithin: Database['prepare'];
  /** Runs one raw statement. */
  readonly ask: (ask: Ask) => Awaitable<unknown>;
  /** A transaction whose commit syncs as given. */
  readonly transactionAs: <T>(sync: SyncMode, work: () => Promise<T>) => Promise<T>;
};

const DIALECT = new SQLiteAsyncDialect();

/** Keeps the upper pages of the indexes in memory; fills on demand. */
const CACHE_KILOBYTES = 32_768;

/** The length of the log at which it is checkpointed: rarely, because commits wait for it. */
const CHECKPOINT_PAGES = 4_000;

/** How long a statement waits for the lock of another process. */
const BUSY_TIMEOUT_MS = 5_000;
const BUSY_RETRY_MS = 10;

/** Whether it is a SQLite file. */
export function isSqlite(database: Database): database is SqliteDatabase {
  return database.dialect === 'sqlite';
}

/** Opens the database. Creates directory and file where there was none. Throws `StoreError`. */
export function openDatabase(options: DatabaseOptions): SqliteDatabase {
  const path = databasePath(options.url);
  const readonly = options.readonly ?? false;
  if (!readonly) createDatabaseFile(path, options.isNew ?? false);
  else if (!existsSync(path)) throw new StoreError(`There is no database at ${path}.`);
  let connection: Connection;
  try {
    connection = connect(path, readonly, options);
  } catch (cause) {
    throw openFailure(path, cause);
  }
  const { sync } = options;
  const { turns, leave } = joinTurns(path);
  const setSync = (mode: SyncMode): void => useSync(connection, mode);
  const { patienceMs } = options;
  const transactions = createTransactions({
    connection,
    usual: sync,
    useSync: setSync,
    turns,
    patienceMs,
  });
  const { whenFree } = transactions;
  const ask = (asked: Ask): Awaitable<unknown> =>
    whenFree(accessOf(asked.text), () => askConnection(connection, asked));
  const { db, rows } = createQueries(ask);
  const transactionAs = <T>(mode: SyncMode, work: () => Promise<T>): Promise<T> =>
    transactions.run({ mode: 'IMMEDIATE', sync: mode }, work);
  const version = connection.query<{ data_version: bigint }, []>('PRAGMA data_version');
  return {
    dialect: 'sqlite',
    isolation: 'one writer',
    db,
    connection,
    ask,
    transactionAs,
    rows,
    prepare: (query) => prepareStatement(connection, whenFree, query),
    prepareWithin: (query) => prepareStatement(connection, (_, ask) => ask(), query),
    transaction: (work) => transactionAs(sync, () => work(db)),
    concurrently: (work) => transactionAs(sync, () => work(db)),
    patiently: (work) => transactionAs(sync, () => work(db)),
    quickly: (work) => transactionAs('normal', () => work(db)),
    snapshot: (read) => transactions.run({ mode: 'DEFERRED', sync }, () => read(db)),
    settled: (read) => read(),
    foreignCommits: () => Number(version.get()?.data_version ?? 0),
    pipeline: undefined,
    async ping() {
      connection.query('SELECT 1').get();
    },
    async close() {
      await whenFree('read', () => connection.close());
      leave();
    },
  };
}

/** Both ways to query without preparing, over a function that runs one statement. */
export function createQueries(
  ask: (ask: Ask) => Awaitable<unknown>,
): Pick<Database, 'db' | 'rows'> {
  return {
    db: createBuilder(async (text, params, method) => {
      const values = (await ask({ text, params, wants: 'values' })) as unknown[][];
      // The builder expects a single row for `get`.
      return { rows: method === 'get' ? (values[0] as unknown[]) : values };
    }),
    async rows<Row>(query: SQL): Promise<Row[]> {
      const { sql: text, params } = DIALECT.sqlToQuery(query);
      return (await ask({ text, params, wants: 'rows' })) as Row[];
    },
  };
}

function askConnection(connection: Connection, { text, params, wants }: Ask): unknown {
  const statement = connection.query(text);
  const bound = params as SQLQueryBindings[];
  if (wants === 'changes') return Number(statement.run(...bound).changes);
  return wants === 'rows' ? statement.all(...bound) : statement.values(...bound);
}

/** Runs at once while no transaction is open; otherwise waits for it. */
function prepareStatement<Values extends object, Row extends readonly unknown[]>(
  connection: Connection,
  whenFree: Transactions['whenFree'],
  query: Query,
): Statement<Values, Row> {
  const { sql: text, params } = query.toSQL();
  const bind = createBinder(params);
  const statement = connection.prepare<Row, SQLQueryBindings[]>(text);
  // Passes the list as one argument, because spreading would copy it.
  const bound = (values: Values) => bind(values) as unknown as SQLQueryBindings;
  const access = accessOf(text);
  return {
    run: (values) => whenFree(access, () => Number(statement.run(bound(values)).changes)),
    get: (values) => whenFree(access, () => statement.values(bound(values))[0] as Row | undefined),
    all: (values) =>
      whenFree(access, () => statement.values(bound(values)) as unknown as readonly Row[]),
  };
}

/** A statement that is not clearly a read may write. */
function accessOf(text: string): AccessMode {
  return /^\s*(select|explain)\b/i.test(text) ? 'read' : 'write';
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

function connect(path: string, readonly: boolean, options: DatabaseOptions): Connection {
  const { sync, checkpoints = true, waits = true, log = true } = options;
  const mode = readonly ? { readonly: true } : { readwrite: true, create: false };
  const connection = new Connection(path, { ...mode, strict: true, safeIntegers: true });
  try {
    connection.run(`PRAGMA busy_timeout = ${waits ? BUSY_TIMEOUT_MS : 0}`);
    if (!log) connection.run('PRAGMA journal_mode = OFF');
    else if (!readonly) useLog(connection);
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

/**
 * A new file is switched to the log once. SQLite does not wait for other processes there, so this
 * retries.
 */
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

function useSync(connection: Connection, sync: SyncMode): void {
  connection.run(`PRAGMA synchronous = ${sync === 'full' ? 'FULL' : 'NORMAL'}`);
}
