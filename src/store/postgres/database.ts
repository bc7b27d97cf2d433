// Opens PostgreSQL behind the store's contract. Each transaction has its own session, which all
// queries of its task use; other queries take a session for one statement. Before a commit or the
// use of a result, the session confirms that its replies are in step.

import { AsyncLocalStorage } from 'node:async_hooks';
import { readFileSync } from 'node:fs';
import type { SQL } from 'drizzle-orm';
import { SQLiteAsyncDialect } from 'drizzle-orm/sqlite-core';
import { createSerialize } from '../../async/serialize.ts';
import { readPostgresUrl } from '../../core/postgres-url.ts';
import { createBuilder } from '../builder.ts';
import type { Database, Queries, Query, Statement } from '../contract.ts';
import { StoreError } from '../error.ts';
import { createBinder } from '../statement.ts';
import { PostgresFailure } from './error.ts';
import { LEDGER_AT_WORK, WRITING } from './locks.ts';
import { toPostgres } from './placeholders.ts';
import { createPool } from './pool.ts';
import { askWithin, confirm, end, endWith, isEcho, type Transaction, undo } from './transaction.ts';
import type { Reply } from './values.ts';

export type PostgresOptions = {
  readonly url: string;
  /** The most connections; default: 10. */
  readonly max?: number;
  /** The statement timeout; reports get longer than the two seconds of a request. */
  readonly statementTimeoutMs?: number;
  /** How long a statement waits for the lock of another transaction. */
  readonly lockTimeoutMs?: number;
  /** For a few hot statements that look up few rows: the ledger's. */
  readonly byIndex?: boolean;
};

const STATEMENT_TIMEOUT_MS = 2_000;
/** PostgreSQL checks for a deadlock after one second, and then reports it as one. */
const LOCK_TIMEOUT_MS = 1_500;
const CONNECT_TIMEOUT_MS = 3_000;

/** The statement timeout of a patient transaction. */
const PATIENT_MS = 60 * 60_000;
const UNHURRIED = ['set local statement_timeout = 0', 'set local lock_timeout = 0'];

/** The open batches of the ledger, by the transactions that hold its lock. */
const OPEN_BATCHES = `select virtualtransaction from pg_locks where locktype = 'advisory'
  and database = (select oid from pg_database where datname = current_database())
  and (classid, objid, objsubid) = (${LEDGER_AT_WORK}, 2)`;

/** PostgreSQL ends a batch whose process is gone after five seconds. */
const BATCH_MS_MAX = 10_000;
const BATCH_PAUSE_MS = 10;
const NO_DISK = 'set local synchronous_commit = off';
const ONE_BY_ONE = `select pg_advisory_xact_lock(${WRITING})`;

/** Connects at the first statement. Throws `StoreError` for an invalid URL. */
export function openPostgres(options: PostgresOptions): Database {
  const read = readPostgresUrl(options.url);
  if ('problem' in read) throw new StoreError(`DATABASE_URL ${read.problem}`);
  const target = read.value;
  const pool = createPool({
    target,
    authorities: readAuthorities(target.rootCertificates),
    max: options.max ?? 10,
    statementTimeoutMs: options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
    lockTimeoutMs: options.lockTimeoutMs ?? LOCK_TIMEOUT_MS,
    byIndex: options.byIndex ?? false,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
  });
  const ambient = new AsyncLocalStorage<Transaction>();
  const dialect = new SQLiteAsyncDialect();
  const db: Queries = createBuilder(async (text, values, method) => {
    const { rows, count } = await ask(toPostgres(text), values);
    return { rows: (method === 'get' ? rows[0] : rows) as unknown[], changes: count };
  });

  /** Sends before it returns, so that statements of one transaction keep their order. */
  function ask(text: string, values: readonly unknown[]): Promise<Reply> {
    const transaction = ambient.getStore();
    if (transaction?.state === 'open') return askWithin(transaction, text, values);
    // Leftover queries of a rolled-back task must not run on their own.
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
    const transaction: Transaction = {
      session,
      state: 'open',
      opening,
      opened: undefined,
      isUnconfirmed: false,
      failure: undefined,
    };
    session.wait(patienceMs);
    try {
      const result = await ambient.run(transaction, () => work(db));
      if (transaction.state === 'open') await end(transaction);
      return result;
    } catch (cause) {
      transaction.state = 'undone';
      await undo(transaction);
      throw isEcho(cause) ? (transaction.failure ?? cause) : cause;
    } finally {
      session.wait();
      pool.release(session);
    }
  }

  function current(): Transaction {
    const transaction = ambient.getStore();
    if (transaction?.state !== 'open') throw new StoreError('No transaction is open.');
    return transaction;
  }

  /** Waits for the batches of the ledger that are open now, on all nodes, and for no later ones. */
  async function batchesEnded(): Promise<void> {
    const open = async () => new Set((await ask(OPEN_BATCHES, [])).rows.map(([batch]) => batch));
    const askedAt = performance.now();
    for (let left = await open(); left.size > 0; left = left.intersection(await open())) {
      if (performance.now() - askedAt > BATCH_MS_MAX) {
        throw new PostgresFailure('SETTLED', 'A batch of the ledger has not ended in time.');
      }
      await Bun.sleep(BATCH_PAUSE_MS);
    }
  }

  /** Transactions of this process wait here, so that each does not occupy a session. */
  const serialize = createSerialize();
  function inTurn<T>(run: () => Promise<T>): Promise<T> {
    // Rejects a nested transaction at once: waiting for the outer one would deadlock.
    return ambient.getStore()?.state === 'open' ? run() : serialize(run);
  }

  return {
    dialect: 'postgres',
    isolation: 'row locks',
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
    async settled(read) {
      const found = await read();
      await batchesEnded();
      return found;
    },
    // PostgreSQL does not report commits of other connections.
    foreignCommits: undefined,
    pipeline: {
      confirm: async () => confirm(current()),
      prepareLast: (query) => {
        const last = prepareOn((text, values) => endWith(current(), text, values), query);
        return async (values) => last.get(values) as never;
      },
    },
    ping: async () => void (await ask('select 1', [])),
    close: async () => pool.close(),
  };
}

function readAuthorities(path: string | undefined): string | undefined {
  try {
    return path === undefined ? undefined : readFileSync(path, 'utf8');
  } catch (cause) {
    throw new StoreError('The file that sslrootcert of DATABASE_URL names cannot be read.', {
      cause,
    });
  }
}

function prepareOn<Values extends object, Row extends readonly unknown[]>(
  ask: (text: string, values: readonly unknown[]) => Promise<Reply>,
  query: Query,
): Statement<Values, Row> {
  const { sql, params } = query.toSQL();
  const text = toPostgres(sql);
  const bind = createBinder(params);
  const run = (values: Values): Promise<Reply> => ask(text, bind(values));
  const rowsOf = (reply: Reply): readonly Row[] => reply.rows as unknown as readonly Row[];
  return {
    run: async (values) => (await run(values)).count,
    get: async (values) => rowsOf(await run(values))[0],
    all: async (values) => rowsOf(await run(values)),
  };
}
