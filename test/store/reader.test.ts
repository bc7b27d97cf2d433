// The thread that reads for pages: a long statement blocks no request and fails after its time, a
// snapshot stays as it was, and the thread ends after a while without a read.

import { expect } from 'bun:test';
import { sql } from 'drizzle-orm';
import { isStatementTimeout, isStoreFailure, sqliteCode } from '../../src/store/error.ts';
import { createReader } from '../../src/store/reader.ts';
import { openServingDatabase } from '../../src/store/serving-database.ts';
import { settings } from '../../src/store/tables.ts';
import { createWriterClient } from '../../src/store/writer/client.ts';
import { newDatabase, sqliteTest, temporaryDirectory, urlOf } from '../support/database.ts';
import { turnsDuring } from '../support/turns.ts';
import { waitUntil } from '../support/upstream.ts';

const test = sqliteTest('PostgreSQL is asked over the network');
const directory = temporaryDirectory();

async function setUp(more: { readonly statementMsMax?: number; readonly idleMs?: number } = {}) {
  const direct = await newDatabase(directory);
  const url = urlOf(direct);
  const threads = { started: 0, ended: 0 };
  function startThread(): Worker {
    threads.started += 1;
    const thread = new Worker(new URL('../../src/server/reader-thread.ts', import.meta.url).href);
    thread.addEventListener('close', () => {
      threads.ended += 1;
    });
    return thread;
  }
  const database = openServingDatabase({
    url,
    sync: 'normal',
    writer: createWriterClient(),
    startReader: startThread,
  });
  return {
    direct,
    database,
    threads,
    reader: createReader({ url, startThread, ...more }),
    async [Symbol.asyncDispose]() {
      this.reader.close();
      await database.close();
      await direct.close();
    },
  };
}

/** Counts rows one by one: a million take some tenths of a second. */
const counting = (rows: number) =>
  `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows})
   select count(*) as rows from n`;

test('a statement of a page leaves the event loop to requests', async () => {
  await using parts = await setUp();
  let found: unknown;
  const turns = await turnsDuring(async () => {
    found = await parts.database.rows(sql.raw(counting(300_000)));
  });
  expect(found).toEqual([{ rows: 300_000n }]);
  expect(turns).toBeGreaterThan(100);
});

test('a statement that takes too long fails, and the next read has another thread', async () => {
  // Enough for the start of a thread on a busy machine.
  await using parts = await setUp({ statementMsMax: 2_000 });
  const { reader, threads } = parts;
  const ask = (text: string) =>
    reader.alone('normal', { text, params: [], wants: 'values' as const });
  const failure = await ask(counting(20_000_000)).catch((cause: unknown) => cause);
  expect(isStatementTimeout(failure)).toBe(true);
  expect(await ask('select 1')).toEqual([[1n]]);
  expect(threads.started).toBe(2);
});

test('threads that are kept by a statement are few: further reads fail until one has ended', async () => {
  // Enough for the start of a thread on a busy machine.
  await using parts = await setUp({ statementMsMax: 2_000 });
  const { reader, threads } = parts;
  const ask = (text: string) =>
    reader.alone('normal', { text, params: [], wants: 'values' as const });
  const long = () => ask(counting(20_000_000)).catch((cause: unknown) => cause);
  expect([isStatementTimeout(await long()), isStatementTimeout(await long())]).toEqual([
    true,
    true,
  ]);
  expect(sqliteCode(await ask('select 1').catch((cause: unknown) => cause))).toBe('SQLITE_BUSY');
  expect(threads.started).toBe(2);
  // A busy machine counts for half a minute.
  await waitUntil(() => threads.ended > 0, 80_000);
  expect(await ask('select 1')).toEqual([[1n]]);
}, 90_000);

test('a snapshot keeps its state while others write', async () => {
  await using parts = await setUp();
  const { database, direct } = parts;
  const names = async () => (await database.db.select().from(settings)).map(({ name }) => name);
  const [before, within] = await database.snapshot(async () => {
    const first = await names();
    await direct.db.insert(settings).values({ name: 'later', value: '', updatedAt: 0 });
    return [first, await names()];
  });
  expect(within).toEqual(before ?? []);
  expect(await names()).toContain('later');
});

test('the thread ends without reads, and starts again', async () => {
  await using parts = await setUp({ idleMs: 50 });
  const { reader, threads } = parts;
  const read = () => reader.alone('normal', { text: 'select 1', params: [], wants: 'values' });
  await read();
  await waitUntil(() => threads.ended === 1);
  expect(await read()).toEqual([[1n]]);
  expect(threads.started).toBe(2);
});

/** As the thread that reads, but it ends at once. */
const DYING = URL.createObjectURL(new Blob(['self.onmessage = () => process.exit(0);']));

test.each([
  ['cannot open the database', new URL('../../src/server/reader-thread.ts', import.meta.url).href],
  ['ends by itself', DYING],
])('a thread that %s fails its reads at once, and the next read has another', async (_, file) => {
  const reader = createReader({
    url: `sqlite:${directory}/nowhere.db`,
    startThread: () => new Worker(file),
  });
  for (let tries = 0; tries < 4; tries += 1) {
    const failure = await reader
      .alone('normal', { text: 'select 1', params: [], wants: 'values' })
      .catch((cause: unknown) => cause);
    expect(sqliteCode(failure)).toBe('SQLITE_ABORT');
  }
  reader.close();
});

test('where no thread can start, the database cannot be read', async () => {
  const reader = createReader({
    url: 'sqlite:unused.db',
    startThread: () => {
      throw new Error('no descriptors');
    },
  });
  const failure = await reader
    .alone('normal', { text: 'select 1', params: [], wants: 'values' })
    .catch((cause: unknown) => cause);
  expect(isStoreFailure(failure)).toBe(true);
  expect(String(failure)).toContain('no descriptors');
});
