// A series by end user stays bounded, however many names customers make of a day.

import { expect, test } from 'bun:test';
import { OTHER_END_USERS } from '../../../src/ledger/series/end-users.ts';
import { createSeriesReader, type SeriesFilter } from '../../../src/ledger/series/read.ts';
import { createRollUp } from '../../../src/ledger/series/roll-up.ts';
import type { Database } from '../../../src/store/contract.ts';
import {
  describeOnEachDatabase,
  newDatabase,
  tamper,
  temporaryDirectory,
} from '../../support/database.ts';
import { addRecords, DAY, HOUR_MS, type UsageRecord, usageRecord } from '../../support/usage.ts';

const directory = temporaryDirectory();
const DAY_MS = 24 * HOUR_MS;
const accountId = 'acct_ada';

/** A day in which each request names another end user. */
async function addEndUsers(database: Database, count: number): Promise<void> {
  await tamper(
    database,
    `insert into usage_end_users
      with recursive users(number) as (
        select 1 union all select number + 1 from users where number < ${count}
      )
      select '${accountId}', ${DAY}, 'user-' || number, 'swift-1', 'swift-1', 'key_1',
        1, 0, 0, 0, 100, 0, 20, 0, 10, 10, 0 from users`,
  );
}

describeOnEachDatabase('end users in a series', () => {
  test('end users for whom a day has no room are summed together', async () => {
    await using database = await newDatabase(directory);
    const rollUp = createRollUp(database, 3 * 67);
    const add = async (names: readonly string[], facts: Partial<UsageRecord> = {}) => {
      await addRecords(
        database,
        names.map((endUser) => usageRecord({ endUser, ...facts })),
      );
      await rollUp.step(100);
    };
    const read = createSeriesReader(database);
    const edges = [DAY, DAY + DAY_MS, DAY + 2 * DAY_MS];
    const counted = async (account: string, only: SeriesFilter = {}) => {
      const { cells } = await read({ accountId: account, edges, groupBy: 'end_user', only });
      return cells
        .map(({ bucket, group, figures }) => `${bucket} ${group}: ${figures.requests}`)
        .sort();
    };

    await add(['ann', 'ben', 'ann', 'cid', 'dan', 'eve']);
    await add(['fay', 'cid', '']);
    await add(['ann'], { modelRequested: 'deep-1' });
    await add(['fay'], { startedAt: DAY + DAY_MS });
    await add(['fay', 'ann'], { accountId: 'acct_bob' });
    const others = `0 ${OTHER_END_USERS}: `;
    expect(await counted(accountId)).toEqual(
      [`${others}4`, '0 : 1', '0 ann: 2', '0 ben: 1', '0 cid: 2', '1 fay: 1'].sort(),
    );
    expect(await counted('acct_bob')).toEqual(['0 ann: 1', '0 fay: 1']);
    expect(await counted(accountId, { endUser: 'fay' })).toEqual(['1 fay: 1']);

    // Before they are rolled up they are in the same groups.
    const later = ['ann', 'ann', 'gus'].map((endUser) => usageRecord({ endUser }));
    await addRecords(database, later);
    const before = await counted(accountId);
    expect(before).toEqual(
      [`${others}5`, '0 : 1', '0 ann: 4', '0 ben: 1', '0 cid: 2', '1 fay: 1'].sort(),
    );
    await rollUp.step(100);
    expect(await counted(accountId)).toEqual(before);
  });

  test('a process that rolls up after another one finds what a day has', async () => {
    await using database = await newDatabase(directory);
    const rollUps = [createRollUp(database, 3 * 67), createRollUp(database, 3 * 67)];
    for (const [turn, endUser] of ['ann', 'ben', 'cid', 'dan', 'eve'].entries()) {
      await addRecords(database, [usageRecord({ endUser })]);
      await rollUps[turn % 2]?.step(9);
    }
    const read = createSeriesReader(database);
    const { cells } = await read({ accountId, edges: [DAY, DAY + DAY_MS], groupBy: 'end_user' });
    const groups = cells.map(({ group, figures }) => `${group}: ${figures.requests}`).sort();
    expect(groups).toEqual([`${OTHER_END_USERS}: 2`, 'ann: 1', 'ben: 1', 'cid: 1']);
  });

  test('long names fill an answer earlier', async () => {
    await using database = await newDatabase(directory);
    await addEndUsers(database, 5_000);
    await tamper(
      database,
      `update usage_end_users set end_user = end_user || '${'x'.repeat(512)}'`,
    );
    const read = createSeriesReader(database);
    const edges = [DAY, DAY + DAY_MS, DAY + 2 * DAY_MS];
    const { cells, firstBucket } = await read({ accountId, edges, groupBy: 'end_user' });
    expect([cells.length, firstBucket]).toEqual([0, 1]);
  });

  test('an answer that is too large ends with a whole bucket', async () => {
    await using database = await newDatabase(directory);
    await addEndUsers(database, 41_000);
    const read = createSeriesReader(database);
    const edges = [DAY, DAY + DAY_MS, DAY + 2 * DAY_MS];
    const { cells, firstBucket } = await read({ accountId, edges, groupBy: 'end_user' });
    expect([cells.length, firstBucket]).toEqual([0, 1]);
    const one = await read({ accountId, edges, groupBy: 'total', only: { endUser: 'user-7' } });
    expect(one.cells).toMatchObject([{ bucket: 0, figures: { requests: 1 } }]);
  });
});
