// A series is read in pages, however many rows customers make of a day: the event loop is released
// between two of them, and each is found by the key.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { OTHER_END_USERS } from '../../../src/ledger/series/end-users.ts';
import { createSeriesReader, type SeriesFilter } from '../../../src/ledger/series/read.ts';
import { createRollUp, type RollUp } from '../../../src/ledger/series/roll-up.ts';
import type { Database, Query } from '../../../src/store/contract.ts';
import {
  describeOnEachDatabase,
  newDatabase,
  sqliteTest,
  tamper,
  temporaryDirectory,
} from '../../support/database.ts';
import { turnsDuring } from '../../support/turns.ts';
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

/** Reads the end users of the day while a record is rolled up between two pages. */
async function readWhileRollingUp(database: Database, rollUp: RollUp, pageRows: number) {
  let time = 0;
  const read = createSeriesReader(database, () => (time += 1_000), pageRows);
  let isDone = false;
  const reading = read({ accountId, edges: [DAY, DAY + DAY_MS], groupBy: 'end_user' });
  const done = reading.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await new Promise((resolve) => setImmediate(resolve));
    await rollUp.step(1);
  }
  return (await done).cells;
}

describeOnEachDatabase('pages of a series', () => {
  test('10,000 end users of a day are read in at least five turns of the loop', async () => {
    const database = await newDatabase(directory);
    await addEndUsers(database, 10_000);
    let time = 0;
    const read = createSeriesReader(database, () => (time += 1_000));
    const edges = [DAY, DAY + DAY_MS];
    const query = { accountId, edges, groupBy: 'end_user' } as const;
    let cells: readonly unknown[] = [];
    const turns = await turnsDuring(async () => {
      ({ cells } = await read({ ...query, only: { model: 'none' } }));
    });
    expect(cells).toEqual([]);
    expect(turns).toBeGreaterThanOrEqual(5);
    const all = await read({ ...query, only: { model: 'swift-1' } });
    expect([all.cells.length, all.firstBucket]).toEqual([10_000, 0]);
    const total = await read({ ...query, groupBy: 'model' });
    expect(total.cells).toEqual([]);
    await database.close();
  });

  test('a record that is rolled up between two pages of its day counts once', async () => {
    // The last two are ordered by UTF-8, which is not the order of JavaScript.
    const users = ['ann', 'annie', 'ben', '\uffe0', '\u{1f600}'];
    const order = fc.shuffledSubarray(users, { minLength: users.length });
    await fc.assert(
      fc.asyncProperty(order, fc.nat(2), async (later, more) => {
        const database = await newDatabase(directory);
        const rollUp = createRollUp(database);
        const add = (names: readonly string[]) =>
          addRecords(
            database,
            names.map((endUser) => usageRecord({ endUser })),
          );
        await add(users);
        await rollUp.step(users.length);
        await add(later);
        const cells = await readWhileRollingUp(database, rollUp, 1 + more);
        const counts = cells.map(({ group, figures }) => [group, figures.requests]);
        expect(Object.fromEntries(counts)).toEqual(
          Object.fromEntries(users.map((user) => [user, 2])),
        );
        await database.close();
      }),
      { numRuns: 30 },
    );
  }, 60_000);

  test('end users for whom a day has no room are summed together', async () => {
    const database = await newDatabase(directory);
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
    await database.close();
  });

  test('records count once that are rolled up during a read of a day with little room', async () => {
    // Of three characters, which are six units of JavaScript.
    const smile = '\u{1f600}'.repeat(3);
    const users = ['ann', 'annie', 'ben', 'cid', smile];
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray(users, { minLength: users.length }),
        ...[fc.nat(5), fc.nat(5), fc.nat(2)],
        async (order, room, rolledUp, more) => {
          const database = await newDatabase(directory);
          const rollUp = createRollUp(database, room * 67);
          const records = [...order, ...users].map((endUser) => usageRecord({ endUser }));
          await addRecords(database, records);
          if (rolledUp > 0) await rollUp.step(rolledUp);
          const cells = await readWhileRollingUp(database, rollUp, 1 + more);
          const counts = cells.map(({ figures }) => figures.requests);
          expect(counts.reduce((all, count) => all + count, 0)).toBe(records.length);
          await database.close();
        },
      ),
      { numRuns: 30 },
    );
  }, 60_000);

  test('a process that rolls up after another one finds what a day has', async () => {
    const database = await newDatabase(directory);
    const rollUps = [createRollUp(database, 3 * 67), createRollUp(database, 3 * 67)];
    for (const [turn, endUser] of ['ann', 'ben', 'cid', 'dan', 'eve'].entries()) {
      await addRecords(database, [usageRecord({ endUser })]);
      await rollUps[turn % 2]?.step(9);
    }
    const read = createSeriesReader(database);
    const { cells } = await read({ accountId, edges: [DAY, DAY + DAY_MS], groupBy: 'end_user' });
    const groups = cells.map(({ group, figures }) => `${group}: ${figures.requests}`).sort();
    expect(groups).toEqual([`${OTHER_END_USERS}: 2`, 'ann: 1', 'ben: 1', 'cid: 1']);
    await database.close();
  });

  test('long names fill an answer earlier', async () => {
    const database = await newDatabase(directory);
    await addEndUsers(database, 5_000);
    await tamper(
      database,
      `update usage_end_users set end_user = end_user || '${'x'.repeat(512)}'`,
    );
    const read = createSeriesReader(database);
    const edges = [DAY, DAY + DAY_MS, DAY + 2 * DAY_MS];
    const { cells, firstBucket } = await read({ accountId, edges, groupBy: 'end_user' });
    expect([cells.length, firstBucket]).toEqual([0, 1]);
    await database.close();
  });

  test('an answer that is too large ends with a whole bucket', async () => {
    const database = await newDatabase(directory);
    await addEndUsers(database, 41_000);
    const read = createSeriesReader(database);
    const edges = [DAY, DAY + DAY_MS, DAY + 2 * DAY_MS];
    const { cells, firstBucket } = await read({ accountId, edges, groupBy: 'end_user' });
    expect([cells.length, firstBucket]).toEqual([0, 1]);
    const one = await read({ accountId, edges, groupBy: 'total', only: { endUser: 'user-7' } });
    expect(one.cells).toMatchObject([{ bucket: 0, figures: { requests: 1 } }]);
    await database.close();
  });

  sqliteTest('it reads a plan of SQLite')('each is found by the key', async () => {
    const database = await newDatabase(directory);
    const texts = new Set<string>();
    function prepare<Values extends object, Row extends readonly unknown[]>(query: Query) {
      texts.add(query.toSQL().sql);
      return database.prepare<Values, Row>(query);
    }
    const read = createSeriesReader({ ...database, prepare });
    const edges = [DAY, DAY + DAY_MS, DAY + DAY_MS + HOUR_MS];
    await read({ accountId, edges, groupBy: 'model' });
    await read({ accountId, edges: edges.slice(0, 2), groupBy: 'end_user' });
    await read({ accountId, edges: edges.slice(0, 2), groupBy: 'key', only: { endUser: 'ann' } });
    const plans = [...texts].map((text) => {
      using explained = database.connection.prepare<{ detail: string }, []>(
        `explain query plan ${text}`,
      );
      return explained.all()[0]?.detail;
    });
    // Three tables, each with its look-up of pages, and the end users with and without a filter.
    expect(plans).toHaveLength(7);
    for (const plan of plans) {
      expect(plan).toMatch(
        /^SEARCH usage_\w+ USING PRIMARY KEY \(account_id=\? AND \((day|hour),.*\)>\(.*\) AND \((day|hour),.*\)<\(/,
      );
    }
    await database.close();
  });
});
