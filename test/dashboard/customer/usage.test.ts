// The usage page reads sums over time; they equal the sums of the requests themselves.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { micro } from '../../../src/core/money.ts';
import { createRollUp } from '../../../src/ledger/series/roll-up.ts';
import { describeOnEachDatabase, temporaryDirectory } from '../../support/database.ts';
import { addRecords, DAY, HOUR_MS, usageRecord } from '../../support/usage.ts';
import { type CustomerApp, openCustomerApp } from './app.ts';

const directory = temporaryDirectory();
const SPAN = 'from=2026-10-05T00:00:00Z&to=2026-10-08T00:00:00Z';

describeOnEachDatabase("a customer's usage", () => {
  let app: CustomerApp;
  let ada: string;
  let key: { id: string };

  beforeAll(async () => {
    app = await openCustomerApp(directory);
    ada = await app.customer();
    const other = await app.customer();
    key = (await app.keys.create({ accountId: ada, name: 'Laptop' }, 'operator')).row;
    const { database } = app.dependencies.store;
    const own = (facts: Parameters<typeof usageRecord>[0]) =>
      usageRecord({ accountId: ada, keyId: key.id, ...facts });
    await addRecords(database, [
      own({ startedAt: DAY, debited: micro(1_500_000n), endUser: 'ann' }),
      own({ startedAt: DAY + 2 * HOUR_MS, debited: micro(500_000n), outcome: 'upstream_failed' }),
      own({
        startedAt: DAY + 30 * HOUR_MS,
        modelServed: 'deep-1',
        debited: micro(2n),
        loss: micro(5n),
      }),
      own({ startedAt: DAY + 80 * HOUR_MS, debited: micro(9_000_000n) }),
      usageRecord({ accountId: other, startedAt: DAY, debited: micro(7_000_000n) }),
    ]);
    await createRollUp(database).step(2);
  });

  afterAll(() => app.close());

  const figures = (facts: object) => ({
    requests: 1,
    completed: 1,
    stopped: 0,
    cancelled: 0,
    failed: 0,
    input_tokens: 100,
    cached_input_tokens: 40,
    output_tokens: 20,
    reasoning_tokens: 5,
    waived: '0',
    ...facts,
  });

  test('by model, day by day, what was spent most on first', async () => {
    expect(await app.get(ada, `/usage?${SPAN}&group_by=model`)).toEqual({
      status: 200,
      json: {
        object: 'usage',
        group_by: 'model',
        step: 'day',
        buckets: [
          '2026-10-05T00:00:00.000Z',
          '2026-10-06T00:00:00.000Z',
          '2026-10-07T00:00:00.000Z',
        ],
        to: '2026-10-08T00:00:00.000Z',
        total: figures({
          ...{ requests: 3, completed: 2, failed: 1, input_tokens: 300, cached_input_tokens: 120 },
          ...{ output_tokens: 60, reasoning_tokens: 15, waived: '0.000005' },
          ...{ spent: '2.000002', spent_usd: '0.000002000002' },
        }),
        groups: [
          {
            group: 'swift-1',
            name: 'swift-1',
            figures: figures({
              ...{ requests: 2, failed: 1, input_tokens: 200, cached_input_tokens: 80 },
              ...{ output_tokens: 40, reasoning_tokens: 10, spent: '2', spent_usd: '0.000002' },
            }),
          },
          {
            group: 'deep-1',
            name: 'deep-1',
            figures: figures({
              ...{ spent: '0.000002', spent_usd: '0.000000000002', waived: '0.000005' },
            }),
          },
        ],
        groups_left_out: 0,
        series: [
          {
            name: 'swift-1',
            points: [{ bucket: 0, requests: 2, input_tokens: 200, output_tokens: 40, spent: '2' }],
          },
          {
            name: 'deep-1',
            points: [
              { bucket: 1, requests: 1, input_tokens: 100, output_tokens: 20, spent: '0.000002' },
            ],
          },
        ],
        counted_from: null,
        behind: 0,
      },
    });
  });

  test('keys have their names, end users their own words or none', async () => {
    const keys = await app.get(ada, `/usage?${SPAN}&group_by=key`);
    expect(keys.json['groups']).toMatchObject([{ group: key.id, name: 'Laptop' }]);
    const users = await app.get(ada, `/usage?${SPAN}&group_by=end_user&step=hour`);
    expect(users.json).toMatchObject({
      step: 'day',
      groups: [{ group: 'ann' }, { group: '' }],
    });
  });

  test('hours are hours, and a span that begins within one has all of it', async () => {
    const span = 'from=2026-10-05T02:40:00Z&to=2026-10-05T03:10:00Z';
    const { json } = await app.get(ada, `/usage?${span}&step=hour`);
    expect(json).toMatchObject({
      buckets: ['2026-10-05T02:00:00.000Z', '2026-10-05T03:00:00.000Z'],
      total: { requests: 1, failed: 1 },
      series: [{ name: '', points: [{ bucket: 0, requests: 1 }] }],
    });
  });

  test('many groups are a few series and the rest', async () => {
    const carl = await app.customer();
    const names = [...Array(9).keys()].map((number) => `model-${number}`);
    await addRecords(
      app.dependencies.store.database,
      names.map((modelServed, index) =>
        usageRecord({ accountId: carl, modelServed, debited: micro(BigInt(9 - index)) }),
      ),
    );
    const { json } = await app.get(carl, `/usage?${SPAN}&group_by=model`);
    const series = json['series'] as { name: string | null; points: { requests: number }[] }[];
    expect(series.map(({ name, points }) => [name, points[0]?.requests])).toEqual([
      ...names.slice(0, 5).map((name) => [name, 1]),
      [null, 4],
    ]);
  });

  test.each([
    ['from=2026-10-05&to=2026-10-08T00:00:00Z', 'from'],
    ['from=2026-10-05T00:00:00Z&to=soon', 'to'],
    ['from=2026-10-05T00:00:00Z&to=2026-10-01T00:00:00Z', 'to'],
    ['from=2020-10-05T00:00:00Z&to=2026-10-01T00:00:00Z', 'to'],
    [`${SPAN}&group_by=account`, 'group_by'],
    [`${SPAN}&account_id=x`, 'account_id'],
  ])('the query %s is refused for %s', async (query, param) => {
    const { status, json } = await app.get(ada, `/usage?${query}`);
    expect([status, (json['error'] as { param: string }).param]).toEqual([400, param]);
  });
});
