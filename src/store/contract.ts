// The database as the domains use it: a SQLite file in this process (`database.ts`), or PostgreSQL
// over the network (`postgres/`). Queries are written once, with Drizzle's asynchronous builder for
// SQLite, in SQL that both understand.

import type { SQL } from 'drizzle-orm';
import type { SqliteRemoteDatabase } from 'drizzle-orm/sqlite-proxy';
import type { Awaitable } from '../async/awaitable.ts';

/** Every query is a promise. Inside a transaction it is part of it. */
export type Queries = SqliteRemoteDatabase;

export type SyncMode = 'full' | 'normal';

export type Dialect = 'sqlite' | 'postgres';

export type Database = {
  readonly dialect: Dialect;
  /** Whether transactions run one at a time, or lock the rows on which they decide. */
  readonly isolation: 'one writer' | 'row locks';
  readonly db: Queries;
  /** The rows of a raw query, by column name. */
  readonly rows: <Row>(query: SQL) => Promise<Row[]>;
  /**
   * Prepares a Drizzle query whose parameters are placeholders, for the path of every request. Its
   * tables must exist.
   */
  readonly prepare: <Values extends object, Row extends readonly unknown[] = []>(
    query: Query,
  ) => Statement<Values, Row>;
  /**
   * Runs `work` in one transaction: commits when its promise resolves, rolls back when it rejects.
   * Queries of the same task belong to it until then, through `db` or a prepared statement; other
   * tasks do not see them. Transactions do not nest and run one at a time across all processes, so
   * what `work` has read stays valid until it has written. On PostgreSQL each has its own
   * connection, with timeouts.
   */
  readonly transaction: <T>(work: (tx: Queries) => Promise<T>) => Promise<T>;
  /**
   * A transaction that does not wait for the disk: for writes that strangers can cause, and for
   * what a power cut may lose. It survives the death of the process.
   */
  readonly quickly: <T>(work: (tx: Queries) => Promise<T>) => Promise<T>;
  /**
   * A transaction that runs beside others where the database allows it, and locks the rows on which
   * it decides. For the ledger and for writes without a decision.
   */
  readonly concurrently: <T>(work: (tx: Queries) => Promise<T>) => Promise<T>;
  /**
   * A transaction whose statements and locks may take many minutes: for migrations, and for what
   * moves all rows.
   */
  readonly patiently: <T>(work: (tx: Queries) => Promise<T>) => Promise<T>;
  /** Reads one state of the database without blocking writers. */
  readonly snapshot: <T>(read: (tx: Queries) => Promise<T>) => Promise<T>;
  /**
   * Reads, and resolves once every ledger batch that was open then has ended, on any node: later
   * commits have higher row numbers than all that were read. For readers that continue from their
   * last row. Not inside a transaction. PostgreSQL numbers rows before they are committed; SQLite
   * has one writer and answers at once.
   */
  readonly settled: <T>(read: () => Promise<T>) => Promise<T>;
  /**
   * Changes when another connection commits, not on our own commits. Absent where the database
   * cannot report it: then any transaction may find everything changed.
   */
  readonly foreignCommits: (() => number) | undefined;
  /** Saves round trips within a transaction; absent where statements need none. */
  readonly pipeline: Pipeline | undefined;
  /** Rejects where the database does not answer. */
  readonly ping: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Both are for use inside a transaction. */
export type Pipeline = {
  /**
   * Resolves once all replies so far are matched to their statements. Sent at once, so it shares a
   * round trip with pending statements. Unless it was called last, the commit does it.
   */
  readonly confirm: () => Promise<void>;
  /**
   * Prepares a statement that ends its transaction: the commit is sent along with it, for any
   * result, so the statement must fail where nothing may be written.
   */
  readonly prepareLast: <Values extends object, Row extends readonly unknown[]>(
    query: Query,
  ) => (values: Values) => Promise<Row | undefined>;
};

/** A Drizzle query before its `prepare()`. */
export type Query = { readonly toSQL: () => { readonly sql: string; readonly params: unknown[] } };

/** `Values` are the query's placeholders by name, `Row` its columns in order. */
export type Statement<Values, Row extends readonly unknown[]> = {
  /** Resolves with the number of written rows. */
  readonly run: (values: Values) => Awaitable<number>;
  /** The first row, if there is one. */
  readonly get: (values: Values) => Awaitable<Row | undefined>;
  /** All rows, for reads of thousands. */
  readonly all: (values: Values) => Awaitable<readonly Row[]>;
};
