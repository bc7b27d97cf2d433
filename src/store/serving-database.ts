// The database of a thread that serves. On SQLite nothing here can block the thread: its own reads
// are short and use a connection that needs no lock, because readers of the log need none; those of
// pages happen in one thread (`reader.ts`), and every write in another (`writer/`). PostgreSQL is remote
// anyway.

import type { Awaitable } from '../async/awaitable.ts';
import { connectDatabase, isSqliteUrl } from './connect.ts';
import type { Database, Query, Statement, SyncMode } from './contract.ts';
import { createQueries, openDatabase } from './database.ts';
import { StoreError } from './error.ts';
import { createReader, type PageReader } from './reader.ts';
import { createBinder } from './statement.ts';
import type { WriterClient, Writing } from './writer/client.ts';
import type { Ask } from './writer/protocol.ts';

type ServingDatabaseOptions = {
  /** The URL of a migrated database. */
  readonly url: string;
  /** `full` survives a power cut, `normal` only the death of the process. */
  readonly sync: SyncMode;
  readonly writer: WriterClient;
  /** Starts the thread that reads, on SQLite; absent: this thread reads. */
  readonly startReader?: () => Worker;
};

/** For reports on the thread that serves. PostgreSQL allows their statements more time. */
export function openServingReader(url: string): Database {
  if (isSqliteUrl(url)) return openDatabase({ url, sync: 'normal', readonly: true, waits: false });
  return connectDatabase({ url, sync: 'normal', readonly: true, patient: true });
}

export function openServingDatabase(options: ServingDatabaseOptions): Database {
  const { url, sync, writer, startReader } = options;
  if (!isSqliteUrl(url)) return connectDatabase({ url, sync });
  const reading = openDatabase({ url, sync, readonly: true, waits: false });
  const reader: PageReader | undefined =
    startReader && createReader({ url, startThread: startReader });
  const owner = {};

  function writing(): Writing | undefined {
    const current = writer.current();
    return current?.owner === owner ? current : undefined;
  }

  /** The open snapshot of this task in the reading thread. */
  function snapshotOf(): Writing | undefined {
    const current = reader?.current();
    return current?.owner === owner ? current : undefined;
  }

  function isRead(text: string): boolean {
    return reading.connection.query(text).readonly;
  }

  async function write(ask: Ask): Promise<unknown> {
    if (writer.current() !== undefined) {
      throw new StoreError(
        'A task that writes on another connection already would wait for itself.',
      );
    }
    return writer.alone(sync, ask);
  }

  function ask(asked: Ask): Awaitable<unknown> {
    const own = writing() ?? snapshotOf();
    if (own !== undefined) return own.ask(asked);
    if (!isRead(asked.text)) return write(asked);
    return reader === undefined ? reading.ask(asked) : reader.alone(sync, asked);
  }

  const { db, rows } = createQueries(ask);

  async function run<T>(mode: SyncMode, work: (tx: typeof db) => Promise<T>): Promise<T> {
    if (writer.current() !== undefined) throw new StoreError('A transaction is already open.');
    return writer.transaction(owner, mode, () => work(db));
  }

  /** Reads of this thread outside of a transaction are prepared once. */
  function prepare<Values extends object, Row extends readonly unknown[]>(
    query: Query,
  ): Statement<Values, Row> {
    const { sql: text, params } = query.toSQL();
    const bind = createBinder(params) as (values: Values) => unknown[];
    const local =
      reader === undefined && isRead(text) ? reading.prepare<Values, Row>(query) : undefined;
    const values = async (given: Values): Promise<readonly Row[]> =>
      (await ask({ text, params: bind(given), wants: 'values' })) as readonly Row[];
    const remote: Statement<Values, Row> = {
      run: async (given) => Number(await ask({ text, params: bind(given), wants: 'changes' })),
      get: async (given) => (await values(given))[0],
      all: values,
    };
    const here = (): Statement<Values, Row> => (writing() === undefined && local) || remote;
    return {
      run: remote.run,
      get: (given) => here().get(given),
      all: (given) => here().all(given),
    };
  }

  return {
    dialect: 'sqlite',
    isolation: 'one writer',
    db,
    rows,
    prepare,
    transaction: (work) => run(sync, work),
    concurrently: (work) => run(sync, work),
    patiently: (work) => run(sync, work),
    quickly: (work) => run('normal', work),
    async snapshot(read) {
      if (writing() !== undefined) throw new StoreError('A transaction is already open.');
      if (reader !== undefined) return reader.transaction(owner, sync, () => read(db));
      return reading.snapshot(() => read(db));
    },
    settled: (read) => read(),
    // The reading connection cannot distinguish this thread's commits from others.
    foreignCommits: undefined,
    pipeline: undefined,
    ping: reading.ping,
    async close() {
      reader?.close();
      await reading.close();
    },
  };
}
