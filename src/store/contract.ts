// What the domains have of a database, whichever it is: a file of SQLite's in this process
// (`database.ts`), or PostgreSQL over the network (`postgres/`). Queries are written once, with Drizzle's
// builder for SQLite in its asynchronous form, in the SQL that both understand.

import type { SQL } from 'drizzle-orm';
import type { SqliteRemoteDatabase } from 'drizzle-orm/sqlite-proxy';
import type { Awaitable } from '../async/awaitable.ts';

/** Every query is a promise. Inside a transaction it is part of it. */
export type Queries = SqliteRemoteDatabase;

export type SyncMode = 'full' | 'normal';

export type Dialect = 'sqlite' | 'postgres';

export type Database = {
  readonly dialect: Dialect;
  /** Whether transactions come one after the other, or lock the rows that they decide by. */
  readonly isolation: 'one writer' | 'row locks';
  readonly db: Queries;
  /** The rows of a query that is written out, by the names of its columns. */
  readonly rows: <Row>(query: SQL) => Promise<Row[]>;
  /**
   * Prepares a query of Drizzle's whose parameters are placeholders: for where every request
   * passes. Its tables must exist.
   */
  readonly prepare: <Values extends object, Row extends readonly unknown[] = []>(
    query: Query,
  ) => Statement<Values, Row>;
  /**
   * Runs `work` in one transaction: committed when its promise is fulfilled, rolled back when it is
   * rejected. Queries of the same task belong to it until then, through `db` or
   * a prepared statement; other tasks see nothing of it. Transactions do not nest, and come one after
   * the other, of all processes: what `work` has read stays so until it has written. PostgreSQL has
   * them on a connection of their own, with timeouts.
   */
  readonly transaction: <T>(work: (tx: Queries) => Promise<T>) => Promise<T>;
  /**
   * A transaction that waits for no disk: for what strangers make us write, and what may be lost
   * with the power. It survives the death of the process.
   */
  readonly quickly: <T>(work: (tx: Queries) => Promise<T>) => Promise<T>;
  /**
   * A transaction beside those of others, where there can be such: it locks by itself what it
   * decides by. The ledger's, and what is written without a decision.
   */
  readonly concurrently: <T>(work: (tx: Queries) => Promise<T>) => Promise<T>;
  /**
   * A transaction whose statements and waits for locks may take many minutes: for migrations, and for
   * what moves all rows.
   */
  readonly patiently: <T>(work: (tx: Queries) => Promise<T>) => Promise<T>;
  /** Reads that see one state of the database, without keeping writers out. */
  readonly snapshot: <T>(read: (tx: Queries) => Promise<T>) => Promise<T>;
  /**
   * Reads, and answers once every batch of the ledger that was open then has ended, on any node: what
   * is committed later has higher row numbers than all that were seen. For readers that continue from
   * the last row that they saw. Not inside a transaction. PostgreSQL numbers rows before they are
   * committed; SQLite has one writer, and answers at once.
   */
  readonly settled: <T>(read: () => Promise<T>) => Promise<T>;
  /**
   * Changes when another connection commits; says nothing about our own commits. Absent where the
   * database cannot tell: there, everything may have changed since the transaction before.
   */
  readonly foreignCommits: (() => number) | undefined;
  /** What spares a transaction round trips; absent where a statement takes none. */
  readonly pipeline: Pipeline | undefined;
  /** Whether the database answers. Rejects where it does not. */
  readonly ping: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Both are for the inside of a transaction. */
export type Pipeline = {
  /**
   * Fulfilled once all replies so far are known to belong to what was asked. It is sent at once, and so
   * travels with what is not awaited yet. Where it was not asked for last, the commit asks for it.
   */
  readonly confirm: () => Promise<void>;
  /**
   * Prepares a statement that ends its transaction: the commit travels with it, whatever it answers, so
   * it has to fail where nothing may be written.
   */
  readonly prepareLast: <Values extends object, Row extends readonly unknown[]>(
    query: Query,
  ) => (values: Values) => Promise<Row | undefined>;
};

/** A query of Drizzle's before its `prepare()`. */
export type Query = { readonly toSQL: () => { readonly sql: string; readonly params: unknown[] } };

/** `Values` names what the query's placeholders take, `Row` what it returns, column by column. */
export type Statement<Values, Row extends readonly unknown[]> = {
  /** Answers how many rows were written. */
  readonly run: (values: Values) => Awaitable<number>;
  /** The first row, if there is one. */
  readonly get: (values: Values) => Awaitable<Row | undefined>;
  /** All rows, for reads of thousands. */
  readonly all: (values: Values) => Awaitable<readonly Row[]>;
};
