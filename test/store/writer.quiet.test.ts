// The database of a serving thread: it reads here and writes in the ledger's thread. No holder of
// SQLite's lock may block this thread, and a write refused after its timeout is never written.

import { Database as Connection } from 'bun:sqlite';
import { afterAll, beforeAll, beforeEach, expect } from 'bun:test';
import { AsyncResource } from 'node:async_hooks';
import { sql } from 'drizzle-orm';
import { createRemoteLedger } from '../../src/ledger/remote.ts';
import type { Database } from '../../src/store/contract.ts';
import { isStoreFailure, isUnknownOutcome, sqliteCode } from '../../src/store/error.ts';
import { openServingDatabase } from '../../src/store/serving-database.ts';
import { settings } from '../../src/store/tables.ts';
import { createWriterClient } from '../../src/store/writer/client.ts';
import { newDatabase, sqliteTest, temporaryDirectory, urlOf } from '../support/database.ts';

const test = sqliteTest('PostgreSQL is asked over the network');
const directory = temporaryDirectory();
const direct = await newDatabase(directory);
const url = urlOf(direct);
const threads: Worker[] = [];
const BEGIN_MS = 300;
const writer = createWriterClient({ beginMs: BEGIN_MS });
const ledger = createRemoteLedger({
  ...{ url, sync: 'full', writer },
  startThread() {
    const thread = new Worker(new URL('../../src/ledger/thread.ts', import.meta.url).href);
    threads.push(thread);
    return thread;
  },
});
const database = openServingDatabase({ url, sync: 'normal', writer });
const other = openServingDatabase({ url, sync: 'full', writer });
afterAll(async () => {
  await ledger.close();
  await Promise.all([direct.close(), database.close(), other.close()]);
});
beforeAll(async () => {
  while (ledger.problem() !== undefined) await Bun.sleep(10);
});
beforeEach(async () => void (await database.db.delete(settings)));

const row = (name: string, value = '') => ({ name, value, updatedAt: 0 });
const add = async (name: string, to: Database = database): Promise<void> =>
  void (await to.db.insert(settings).values(row(name)));
const names = async (of: Database = database): Promise<string[]> =>
  (await of.db.select().from(settings).orderBy(settings.name)).map(({ name }) => name);

/** What it rejects with. */
async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (cause) {
    return cause;
  }
  throw new Error('It was fulfilled.');
}

/** Holds SQLite's lock as another process does. */
async function locked<T>(work: () => Promise<T>): Promise<T> {
  using connection = new Connection(direct.connection.filename);
  connection.run('PRAGMA busy_timeout = 2000');
  connection.run('BEGIN IMMEDIATE');
  try {
    return await work();
  } finally {
    connection.run('ROLLBACK');
  }
}

test('a transaction sees what it wrote, and others see it once it is committed', async () => {
  const counted = database.prepare<object, [bigint]>(
    database.db.select({ count: sql<bigint>`count(*)` }).from(settings),
  );
  await database.transaction(async () => {
    await add('a');
    expect(await names()).toEqual(['a']);
    expect(await counted.get({})).toEqual([1n]);
    expect(await names(other)).toEqual([]);
    expect(await names(direct)).toEqual([]);
  });
  expect(await counted.get({})).toEqual([1n]);
  expect(await names(other)).toEqual(['a']);
});

test('a transaction that throws leaves nothing, and no work of it is written afterwards', async () => {
  let late: (() => Promise<void>) | undefined;
  const cause = new Error('no');
  const failure = await failureOf(
    database.transaction(async () => {
      await add('a');
      late = AsyncResource.bind(() => add('late'));
      throw cause;
    }),
  );
  expect(failure).toBe(cause);
  expect(String(await failureOf(late?.() ?? Promise.resolve()))).toMatch(/undone already/);
  expect(await names()).toEqual([]);
});

test('a refused statement has the code of SQLite, and does not end the transaction', async () => {
  await database.transaction(async () => {
    await add('a');
    const failure = await failureOf(add('a'));
    expect([sqliteCode(failure), isStoreFailure(failure)]).toEqual([
      'SQLITE_CONSTRAINT_PRIMARYKEY',
      false,
    ]);
    await add('b');
  });
  expect(sqliteCode(await failureOf(add('a')))).toBe('SQLITE_CONSTRAINT_PRIMARYKEY');
  expect(await names()).toEqual(['a', 'b']);
});

test('a transaction does not nest, nor write through another database of its thread', async () => {
  await database.transaction(async () => {
    const nested = [
      database.transaction(async () => undefined),
      other.transaction(async () => undefined),
      database.snapshot(async () => undefined),
    ];
    for (const each of nested) expect(String(await failureOf(each))).toMatch(/already open/);
    expect(String(await failureOf(add('a', other)))).toMatch(/would wait for itself/);
  });
});

test('transactions that read and then write lose nothing of each other', async () => {
  const raise = (of: Database) =>
    of.transaction(async (tx) => {
      const [before] = await tx.select().from(settings);
      const value = String(Number(before?.value ?? 0) + 1);
      await tx.delete(settings);
      await tx.insert(settings).values(row('count', value));
    });
  await Promise.all(
    Array.from({ length: 30 }, (_, index) => raise(index % 2 === 0 ? database : other)),
  );
  const [after] = await database.db.select().from(settings);
  expect(after?.value).toBe('30');
});

test('while another process holds the lock, reads go on and timers are on time', async () => {
  const refused = await locked(async () => {
    const writes = [add('a'), database.transaction(() => add('b')), other.quickly(() => add('c'))];
    const outcomes = Promise.all(writes.map(failureOf));
    let worst = 0;
    let last = performance.now();
    const timer = setInterval(() => {
      worst = Math.max(worst, performance.now() - last);
      last = performance.now();
    }, 5);
    expect(await names()).toEqual([]);
    await database.snapshot(() => names());
    const failures = await outcomes;
    clearInterval(timer);
    // The wait for the lock is 300 ms: a thread that waited would be late by as much.
    expect(worst).toBeLessThan(BEGIN_MS * 0.8);
    return failures;
  });
  for (const failure of refused) {
    expect([sqliteCode(failure), isStoreFailure(failure)]).toEqual(['SQLITE_BUSY', true]);
  }
  // What was refused must not be written once the lock is free.
  await add('after');
  expect(await names()).toEqual(['after']);
});

test('a write that waits for a lock goes on once it is free', async () => {
  let written: Promise<void> | undefined;
  await locked(async () => {
    written = add('a');
    await Bun.sleep(BEGIN_MS / 3);
    expect(await names()).toEqual([]);
  });
  await written;
  expect(await names()).toEqual(['a']);
});

test('a thread that dies undoes what was open, and the next one writes', async () => {
  const failure = await failureOf(
    database.transaction(async () => {
      await add('a');
      threads.at(-1)?.terminate();
      await add('b');
    }),
  );
  expect([sqliteCode(failure), isUnknownOutcome(failure)]).toEqual(['SQLITE_ABORT', false]);
  for (;;) {
    // What is asked before the next thread has opened may be refused.
    const wrote = await add('c').then(
      () => true,
      () => false,
    );
    if (wrote) break;
  }
  expect(await names()).toEqual(['c']);
}, 20_000);
