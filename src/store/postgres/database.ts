// Opens PostgreSQL as the database of a process. Each transaction has a session of its own, and what
// the same task asks meanwhile belongs to it; all else takes a session for one statement. Before
// anything is committed or believed, the session has to answer a question that only it was asked.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { SQL } from 'drizzle-orm';
import { SQLiteAsyncDialect } from 'drizzle-orm/sqlite-core';
import { drizzle } from 'drizzle-orm/sqlite-proxy';
import type { Database, Queries } from '../contract.ts';
import { StoreError } from '../error.ts';
import '../plain-errors.ts';
import { PostgresFailure } from './error.ts';
import { LEDGER_AT_WORK, WRITING } from './locks.ts';
import { toPostgres } from './placeholders.ts';
import { createPool } from './pool.ts';
import { prepareOn } from './statement.ts';
import { askWithin, atSavepoint, commit, isEcho, type Transaction, undo } from './transaction.ts';
import type { Reply } from './values.ts';

export type PostgresOptions = {
  readonly url: string;
  /** Connections at most; 10 where absent. */
  readonly max?: number;
  /** How long one statement may take; longer than the two seconds of a request for reports. */
  readonly statementTimeoutMs?: number;
  readonly connectTimeoutMs?: number;
};

const STATEMENT_TIMEOUT_MS = 2_000;
const LOCK_TIMEOUT_MS = 1_000;
const CONNECT_TIMEOUT_MS = 5_000;

/** Until here a statement of a patient transaction may take. */
const PATIENT_MS = 60 * 60_000;
const UNHURRIED = ['set local statement_timeout = 0', 'set local lock_timeout = 0'];

/** Whoever waits for the ledger makes its next batches wait. */
const SHORT_WAIT = "set local lock_timeout = '250ms'";
const SETTLED_TRIES = 10;
const SETTLED_PAUSE_MS = 50;
const LOCK_NOT_AVAILABLE = '55P03';
const NO_DISK = 'set local synchronous_commit = off';
const ONE_BY_ONE = `select pg_advisory_xact_lock(${WRITING})`;
const NO_LEDGER = `select pg_advisory_xact_lock(${LEDGER_AT_WORK})`;

/** Connects when the first statement comes. Throws `StoreError` for a URL of something else. */
export function openPostgres(options: PostgresOptions): Database {
  const { url } = options;
  if (!/^postgres(ql)?:\/\//.test(url)) {
    throw new StoreError(
      'DATABASE_URL does not name a PostgreSQL database. Write it as postgres://user:password@host/database.',
    );
  }
  const pool = createPool({
    url,
    max: options.max ?? 10,
    statementTimeoutMs: options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
    lockTimeoutMs: LOCK_TIMEOUT_MS,
    connectTimeoutMs: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
  });
  const ambient = new AsyncLocalStorage<Transaction>();
  const dialect = new SQLiteAsyncDialect();
  const db: Queries = drizzle(async (text, values, method) => {
    const { rows, count } = await ask(toPostgres(text), values);
    return { rows: (method === 'get' ? rows[0] : rows) as unknown[], changes: count };
  });

  /** Sent before this returns, so that statements of one transaction keep their order. */
  function ask(text: string, values: readonly unknown[]): Promise<Reply> {
    const transaction = ambient.getStore();
    if (transaction?.state === 'open') return askWithin(transaction, text, values);
    // What is left over of work that was undone must not be written on its own.
    if (transaction?.state === 'undone') {
      return Promise.reject(new StoreError('This transaction was undone already.'));
    }
    return askAlone(text, values);
  }

  async function askAlone(text: string, values: readonly unknown[]): Promise<Reply> {
    const session = await pool.acquire();
    try {
      const [reply, checked] = await Promise.allSettled([
        session.query(text, values),
        session.check(),
      ]);
      if (checked.status === 'rejected') throw checked.reason;
      if (reply.status === 'rejected') throw reply.reason;
      return reply.value;
    } finally {
      pool.release(session);
    }
  }

  async function inTransaction<T>(
    opening: readonly string[],
    work: (tx: Queries) => Promise<T>,
    patienceMs?: number,
  ): Promise<T> {
    if (ambient.getStore()?.state === 'open') {
      throw new StoreError('A transaction is already open.');
    }
    const session = await pool.acquire();
    const transaction: Transaction = { session, state: 'open', failure: undefined, savepoints: 0 };
    session.wait(patienceMs);
    try {
      // Not waited for: the first statement of the work travels along.
      const opened = Promise.all(opening.map((text) => session.query(text)));
      opened.catch((cause) => {
        transaction.failure ??= cause;
      });
      const result = await ambient.run(transaction, () => work(db));
      await opened;
      await session.check();
      await commit(transaction);
      transaction.state = 'committed';
      return result;
    } catch (cause) {
      transaction.state = 'undone';
      await undo(session);
      throw isEcho(cause) ? (transaction.failure ?? cause) : cause;
    } finally {
      session.wait();
      pool.release(session);
    }
  }

  /** Those of this process wait here, and not each with a session of its own. */
  let last: Promise<unknown> = Promise.resolve();
  function inTurn<T>(run: () => Promise<T>): Promise<T> {
    // One that is asked for inside another is refused, and waits for nobody.
    if (ambient.getStore()?.state === 'open') return run();
    const done = last.then(run);
    last = done.catch(() => undefined);
    return done;
  }

  return {
    dialect: 'postgres',
    db,
    async rows<Row>(query: SQL) {
      const { sql, params } = dialect.sqlToQuery(query);
      const { rows, columns } = await ask(toPostgres(sql), params);
      return rows.map(
        (row) => Object.fromEntries(columns.map((name, index) => [name, row[index]])) as Row,
      );
    },
    prepare: (query) => prepareOn(ask, query),
    transaction: (work) => inTurn(() => inTransaction(['begin', ONE_BY_ONE], work)),
    concurrently: (work) => inTransaction(['begin'], work),
    patiently: (work) => inTransaction(['begin', ...UNHURRIED], work, PATIENT_MS),
    quickly: (work) => inTurn(() => inTransaction(['begin', NO_DISK, ONE_BY_ONE], work)),
    snapshot: (read) => inTransaction(['begin isolation level repeatable read read only'], read),
    async savepoint(work) {
      const transaction = ambient.getStore();
      if (transaction?.state !== 'open') throw new StoreError('No transaction is open.');
      return atSavepoint(transaction, work);
    },
    async settled(read) {
      for (let tries = 1; ; tries += 1) {
        try {
          return await inTransaction(['begin', SHORT_WAIT, NO_LEDGER], () => read());
        } catch (cause) {
          const isBusy = cause instanceof PostgresFailure && cause.code === LOCK_NOT_AVAILABLE;
          if (!isBusy || tries === SETTLED_TRIES) throw cause;
          await Bun.sleep(tries * SETTLED_PAUSE_MS);
        }
      }
    },
    // Sequences of other nodes' commits are not told to anybody.
    foreignCommits: undefined,
    ping: async () => void (await ask('select 1', [])),
    close: async () => pool.close(),
  };
}
