// How the series keep up with the ledger: on the event loop, in a thread when far behind, and after
// a failure.

import { expect, test } from 'bun:test';
import { createRollUp } from '../../src/ledger/series/roll-up.ts';
import { type ServingSeriesOptions, startServingSeries } from '../../src/server/series.ts';
import type { SqliteDatabase } from '../../src/store/database.ts';
import { newDatabase, temporaryDirectory } from '../support/database.ts';
import { waitUntil } from '../support/upstream.ts';
import { addRecords, usageRecord } from '../support/usage.ts';

const directory = temporaryDirectory();

type Started = {
  readonly database: SqliteDatabase;
  readonly lines: string[];
  readonly stop: () => void;
};

async function start(
  records: number,
  options: Partial<ServingSeriesOptions> = {},
): Promise<Started> {
  const name = crypto.randomUUID();
  const database = await newDatabase(directory, name);
  await database.transaction(() =>
    addRecords(
      database,
      Array.from({ length: records }, () => usageRecord()),
    ),
  );
  const lines: string[] = [];
  const stop = startServingSeries({
    database,
    url: `sqlite:${directory}/${name}.db`,
    monotonic: () => performance.now(),
    log: { info: (line) => lines.push(line), error: (line) => lines.push(line) },
    everyMs: 5,
    ...options,
  });
  return { database, lines, stop };
}

test('new records are added up again and again', async () => {
  const { database, lines, stop } = await start(250);
  const rollUp = createRollUp(database);
  await waitUntil(async () => (await rollUp.behind()) === 0);
  await addRecords(database, [usageRecord()]);
  await waitUntil(async () => (await rollUp.behind()) === 0);
  stop();
  expect(lines).toEqual([]);
  await database.close();
});

test('a thread adds up a long past', async () => {
  const { database, lines, stop } = await start(3_000, { threadFrom: 1_000 });
  const rollUp = createRollUp(database);
  await waitUntil(async () => (await rollUp.behind()) === 0 && lines.length === 2);
  stop();
  expect(lines).toEqual([
    'aggregating 3000 older usage records',
    'the older usage records are aggregated',
  ]);
  await database.close();
});

test('a failure is logged, and what is behind is added up later', async () => {
  const { database, lines, stop } = await start(10);
  database.connection.run(
    "create temp trigger full before update on usage_mark begin select raise(abort, 'full'); end",
  );
  await waitUntil(() => lines.length > 0);
  expect(lines[0]).toBe('usage could not be aggregated; retrying');
  database.connection.run('drop trigger full');
  const rollUp = createRollUp(database);
  await waitUntil(async () => (await rollUp.behind()) === 0);
  stop();
  await database.close();
});

test('a thread that cannot open the database is tried again too', async () => {
  const { database, lines, stop } = await start(10, { threadFrom: 1, url: 'sqlite:/' });
  await waitUntil(() => lines.filter((line) => line.startsWith('usage could not')).length > 1);
  stop();
  expect(await createRollUp(database).behind()).toBe(10);
  await database.close();
});
