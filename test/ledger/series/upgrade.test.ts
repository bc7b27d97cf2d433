// Books whose hours were added up before there were days get their days out of them.

import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { micro } from '../../../src/core/money.ts';
import { createSeriesReader } from '../../../src/ledger/series/read.ts';
import { createRollUp } from '../../../src/ledger/series/roll-up.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { migrate } from '../../../src/store/migrate.ts';
import { MIGRATIONS } from '../../../src/store/migrations.ts';
import { temporaryDirectory } from '../../support/database.ts';
import { addRecords, DAY, HOUR_MS, usageRecord } from '../../support/usage.ts';

const directory = temporaryDirectory();

test('days are the sums of the hours that were there before', async () => {
  const database = openDatabase({ url: `sqlite:${join(directory, 'books.db')}`, sync: 'normal' });
  const before = MIGRATIONS.sqlite.findIndex(({ tag }) => tag === '0011_usage_days');
  await migrate(database, MIGRATIONS.sqlite.slice(0, before));
  await addRecords(database, [
    usageRecord({ startedAt: DAY, debited: micro(1n) }),
    usageRecord({ startedAt: DAY + 23 * HOUR_MS, debited: micro(2n), outcome: 'upstream_failed' }),
    usageRecord({ startedAt: DAY + 24 * HOUR_MS, debited: micro(4n), keyId: 'key_2' }),
  ]);
  // The program of then knew no days.
  const { connection } = database;
  connection.run('create temp table usage_days as select * from usage_hours');
  connection.run('alter table usage_days rename column hour to day');
  connection.run('create unique index temp.days on usage_days (account_id, day, model, key_id)');
  await createRollUp(database).step(10);
  connection.run('drop table temp.usage_days');
  await migrate(database);
  const edges = [DAY, DAY + 24 * HOUR_MS, DAY + 48 * HOUR_MS];
  const { cells } = await createSeriesReader(database)({
    accountId: 'acct_ada',
    edges,
    groupBy: 'key',
  });
  const shown = cells.map(({ bucket, group, figures: { requests, failed, debited } }) => {
    return { bucket, group, requests, failed, debited };
  });
  expect(shown).toEqual([
    { bucket: 1, group: 'key_2', requests: 1, failed: 0, debited: micro(4n) },
    { bucket: 0, group: 'key_1', requests: 2, failed: 1, debited: micro(3n) },
  ]);
  await database.close();
});
