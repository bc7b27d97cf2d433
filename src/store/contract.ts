// What the domains have of a database, whichever it is: a file of SQLite's in this process
// (`sqlite/`), or PostgreSQL over the network (`postgres/`). Queries are written once, with Drizzle's
// builder for SQLite in its asynchronous form, in the SQL that both understand.

import type { SqliteRemoteDatabase } from 'drizzle-orm/sqlite-proxy';

/** Every query is a promise. Inside a transaction it is part of it. */
export type Queries = SqliteRemoteDatabase;

export type SyncMode = 'full' | 'normal';

export type Dialect = 'sqlite' | 'postgres';

export type Database = {
  readonly dialect: Dialect;
  readonly db: Queries;
  /**
   * Runs `work` in one transaction: committed when its promise is fulfilled, rolled back when it is
   * rejected. Whatever the same task asks of this database meanwhile belongs to it, through `db` or
   * a prepared statement; other tasks see nothing of it. Transactions do not nest. SQLite: immediate,
   * one after the other. PostgreSQL: read committed, on a connection of its own, with timeouts.
   */
  readonly transaction: <T>(work: (tx: Queries) => Promise<T>) => Promise<T>;
  /**
   * A transaction that waits for no disk: for what strangers make us write, and what may be lost
   * with the power. It survives the death of the process.
   */
  readonly quickly: <T>(work: (tx: Queries) => Promise<T>) => Promise<T>;
  /** Inside a transaction: undoes what `work` wrote when it is rejected, and nothing else. */
  readonly savepoint: <T>(work: () => Promise<T>) => Promise<T>;
  /** Reads that see one state of the database, without keeping writers out. */
  readonly snapshot: <T>(read: (tx: Queries) => Promise<T>) => Promise<T>;
  /**
   * Changes when somebody else commits; says nothing about our own commits. Absent where the
   * database cannot tell: there, everything may have changed since the transaction before.
   */
  readonly foreignCommits: (() => number) | undefined;
  /** Whether the database answers. Rejects where it does not. */
  readonly ping: () => Promise<void>;
  readonly close: () => Promise<void>;
};
