// The usage page reads sums over time; they equal the sums of the requests themselves.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { PLAYGROUND_KEY_ID } from '../../../src/core/id.ts';
import { micro } from '../../../src/core/money.ts';
import { keyNames } from '../../../src/dashboard/customer/key-names.ts';
import { createRollUp } from '../../../src/ledger/series/roll-up.ts';
import { describeOnEachDatabase, temporaryDirectory } from '../../support/database.ts';
import { addRecords, DAY, HOUR_MS, someUsage, usageRecord } from '../../support/usage.ts';
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
    expect(await app.get(ada, `/usage?${SPAN}&group_by=model&step=day`)).toEqual({
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
        from: '2026-10-05T00:00:00.000Z',
        to: '2026-10-08T00:00:00.000Z',
        total: figures({
          ...{ requests: 3, completed: 2, failed: 1, input_tokens: 300, cached_input_tokens: 120 },
          ...{ output_tokens: 60, reasoning_tokens: 15, waived: '0.000005' },
          ...{ spent: '2.000002', spent_usd: '0.000002000002' },
        }),
        groups: [
          {
            group: 'swift-1 swift-1',
            name: 'swift-1',
            requested: null,
            figures: figures({
              ...{ requests: 2, failed: 1, input_tokens: 200, cached_input_tokens: 80 },
              ...{ output_tokens: 40, reasoning_tokens: 10, spent: '2', spent_usd: '0.000002' },
            }),
          },
          {
            group: 'deep-1 swift-1',
            name: 'deep-1',
            requested: 'swift-1',
            figures: figures({
              ...{ spent: '0.000002', spent_usd: '0.000000000002', waived: '0.000005' },
            }),
          },
        ],
        groups_left_out: 0,
        series: [
          {
            group: 'swift-1 swift-1',
            name: 'swift-1',
            requested: null,
            points: [
              {
                ...{ bucket: 0, requests: 2, failed: 1, input_tokens: 200, output_tokens: 40 },
                ...{ spent: '2', spent_usd: '0.000002' },
              },
            ],
          },
          {
            group: 'deep-1 swift-1',
            name: 'deep-1',
            requested: 'swift-1',
            points: [
              {
                ...{ bucket: 1, requests: 1, failed: 0, input_tokens: 100, output_tokens: 20 },
                ...{ spent: '0.000002', spent_usd: '0.000000000002' },
              },
            ],
          },
        ],
        before: {
          from: '2026-10-02T00:00:00.000Z',
          to: '2026-10-05T00:00:00.000Z',
          total: figures({
            ...{ requests: 0, completed: 0, input_tokens: 0, cached_input_tokens: 0 },
            ...{ output_tokens: 0, reasoning_tokens: 0, spent: '0', spent_usd: '0' },
          }),
          points: [],
        },
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

  test('the names of keys are read for the chosen ids of the account alone', async () => {
    const { store } = app.dependencies;
    const stranger = await app.customer();
    const unnamed = (await app.keys.create({ accountId: ada }, 'operator')).row;
    const foreign = (await app.keys.create({ accountId: stranger, name: 'x' }, 'operator')).row;
    const unknown = Array.from({ length: 600 }, (_, n) => `key_${n}`);
    const keys = {
      ...store.keys,
      list: () => Promise.reject(new Error('every key of the account was read')),
    };
    const ids = [unnamed.id, ...unknown, foreign.id, PLAYGROUND_KEY_ID, key.id];
    const nameOf = await keyNames({ keys }, ada, ids);
    expect(ids.map(nameOf)).toEqual([
      ...[unnamed.masked, ...unknown, foreign.id, 'Playground', 'Laptop'],
    ]);
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

  test('filters combine, and a model is found by either name', async () => {
    const bob = await app.customer();
    const own = (facts: Parameters<typeof usageRecord>[0]) =>
      usageRecord({ accountId: bob, modelRequested: 'scout-1', keyId: 'key_a', ...facts });
    await addRecords(app.dependencies.store.database, [
      own({ modelServed: 'scout-1', endUser: 'ann' }),
      own({ endUser: 'ann' }),
      own({ endUser: 'ben', keyId: 'key_b' }),
      own({ modelRequested: 'swift-1' }),
    ]);
    const counted = async (filter: string, by: string) => {
      const { json } = await app.get(bob, `/usage?${SPAN}&group_by=${by}&${filter}`);
      const groups = json['groups'] as {
        readonly group: string;
        readonly figures: { readonly requests: number };
      }[];
      return Object.fromEntries(
        groups.map(({ group, figures: { requests } }) => [group, requests]),
      );
    };
    const [pair, same] = ['swift-1 scout-1', 'scout-1 scout-1'];
    expect([
      await counted('model=scout-1', 'model'),
      await counted('model=swift-1', 'model'),
      await counted('model=scout-1&key=key_a', 'end_user'),
      await counted('end_user=ann&key=key_a', 'model'),
      await counted(`end_user=${encodeURIComponent('\u{1f600}'.repeat(256))}`, 'total'),
    ]).toEqual([
      { [pair]: 2, [same]: 1 },
      { [pair]: 2, 'swift-1 swift-1': 1 },
      { ann: 2 },
      { [pair]: 1, [same]: 1 },
      {},
    ]);
    const list = await app.get(bob, '/requests?served=swift-1&requested=scout-1');
    expect(list.json['data']).toHaveLength(2);
  });

  test('the series of their own have the most of the measure that is shown', async () => {
    const dan = await app.customer();
    const models = [...Array(7).keys()].map((number) => `model-${number}`);
    await addRecords(
      app.dependencies.store.database,
      models.map((modelServed, index) =>
        usageRecord({
          ...{ accountId: dan, modelServed, modelRequested: modelServed },
          ...{ debited: micro(BigInt(7 - index)), inputTokens: 1_000 * index, outputTokens: 0 },
        }),
      ),
    );
    const shown = async (measure: string) => {
      const { json } = await app.get(dan, `/usage?${SPAN}&group_by=model&measure=${measure}`);
      return (json['series'] as { name: string | null }[]).map(({ name }) => name);
    };
    expect([await shown('spent'), await shown('tokens')]).toEqual([
      [...models.slice(0, 5), null],
      [...models.slice(2).reverse(), null],
    ]);
  });

  test('presets end now, a month is one, and a long period has months', async () => {
    const span = async (query: string) => {
      const { json } = await app.get(ada, `/usage?${query}`);
      const { from, to, step, before, buckets } = json as {
        readonly from: string;
        readonly to: string;
        readonly step: string;
        readonly before: { readonly from: string; readonly to: string };
        readonly buckets: readonly string[];
      };
      const short = (iso: string) => iso.slice(0, 13);
      return [step, buckets.length, ...[from, to, before.from, before.to].map(short)];
    };
    // It is noon; the current hour counts.
    expect([
      await span('days=1'),
      await span('days=7'),
      await span('month=2026-10'),
      await span('month=2026-11'),
      await span('from=2026-11-20T10:30:00Z&to=2026-11-20T11:30:00Z'),
      await span('days=1&group_by=end_user'),
      await span('from=2020-10-05T00:00:00Z&to=2026-10-01T00:00:00Z'),
    ]).toEqual([
      ['hour', 24, '2026-11-20T13', '2026-11-21T13', '2026-11-19T13', '2026-11-20T13'],
      ['day', 7, '2026-11-15T00', '2026-11-22T00', '2026-11-08T00', '2026-11-14T13'],
      ['day', 31, '2026-10-01T00', '2026-11-01T00', '2026-09-01T00', '2026-10-01T00'],
      ['day', 21, '2026-11-01T00', '2026-11-22T00', '2026-10-01T00', '2026-10-21T13'],
      ['hour', 2, '2026-11-20T10', '2026-11-20T12', '2026-11-20T08', '2026-11-20T10'],
      ['day', 2, '2026-11-20T00', '2026-11-22T00', '2026-11-18T00', '2026-11-20T00'],
      ['month', 72, '2020-10-05T00', '2026-10-01T00', '2014-10-10T00', '2020-10-05T00'],
    ]);
  });

  test('totals are those of the export of the period that is shown', async () => {
    const eve = await app.customer();
    const { database } = app.dependencies.store;
    await addRecords(
      database,
      fc
        .sample(someUsage, { numRuns: 80, seed: 7 })
        .map((facts) => usageRecord({ ...facts, accountId: eve })),
    );
    await createRollUp(database).step(50);
    const instant = fc.integer({ min: DAY - 5 * HOUR_MS, max: DAY + 55 * HOUR_MS });
    const someQuery = fc.record({
      from: instant,
      lengthMs: fc.integer({ min: 1, max: 90 * HOUR_MS }),
      by: fc.constantFrom('total', 'model', 'key', 'end_user'),
      filter: fc.record(
        {
          model: fc.constantFrom('swift-1', 'swift-0', 'deep-1'),
          key: fc.constantFrom('key_1', 'key_2'),
          end_user: fc.constantFrom('ann', 'ben'),
        },
        { requiredKeys: [] },
      ),
    });
    await fc.assert(
      fc.asyncProperty(someQuery, async ({ from, lengthMs, by, filter }) => {
        const iso = (ms: number) => new Date(ms).toISOString();
        const query = new URLSearchParams({ ...filter, from: iso(from), to: iso(from + lengthMs) });
        const { json } = await app.get(eve, `/usage?${query}&group_by=${by}`);
        const { total } = json as { total: Readonly<Record<string, number | string>> };
        query.set('from', String(json['from']));
        query.set('to', String(json['to']));
        query.set('outcome', 'ended');
        const rows = (await (await app.open(eve, 'GET', `/requests/export?${query}`)).text())
          .split('\r\n')
          .slice(0, -1)
          .map((line) => line.split(',').map((cell) => cell.replaceAll('"', '')));
        const [names = [], ...lines] = rows;
        const sum = (name: string) =>
          lines.reduce((all, line) => {
            const [whole = '', part = ''] = (line[names.indexOf(name)] ?? '').split('.');
            return all + BigInt(whole + part.padEnd(6, '0'));
          }, 0n);
        const amount = (value: unknown) => {
          const [whole = '', part = ''] = String(value).split('.');
          return BigInt(whole + part.padEnd(6, '0'));
        };
        expect({
          requests: total['requests'],
          input: amount(total['input_tokens']),
          output: amount(total['output_tokens']),
          spent: amount(total['spent']),
        }).toEqual({
          requests: lines.length,
          input: sum('input_tokens'),
          output: sum('output_tokens'),
          spent: sum('svc_tokens_debited'),
        });
      }),
      { numRuns: 60 },
    );
  }, 30_000);

  test('speeds are percentiles by model, and errors are counted', async () => {
    const fay = await app.customer();
    const { database } = app.dependencies.store;
    const attempt = { upstream: 'east', model: 'swift-1', credential: '1', firstContentMs: 90 };
    const attempts = JSON.stringify([{ ...attempt, startedAt: DAY + 10, endedAt: DAY + 1_000 }]);
    await addRecords(database, [
      usageRecord({ accountId: fay, attempts, outputTokens: 90 }),
      usageRecord({ accountId: fay, outcome: 'upstream_failed', modelServed: null }),
    ]);
    await createRollUp(database).step(1_000);
    const { json } = await app.get(fay, `/usage/speeds?${SPAN}&step=day`);
    const figures = {
      ...{ requests: 2, failed: 1, first_token_ms_p50: 103, first_token_ms_p95: 103 },
      ...{ duration_ms_p50: 981, duration_ms_p95: 981, tokens_per_second_p50: 98.1 },
    };
    expect(json).toEqual({
      ...{ object: 'speeds', step: 'day', total: figures },
      ...{ from: '2026-10-05T00:00:00.000Z', to: '2026-10-08T00:00:00.000Z' },
      buckets: expect.any(Array),
      points: [{ bucket: 0, ...figures, failures: {} }],
      models: [{ model: 'swift-1', ...figures }],
    });
    const none = await app.get(fay, `/usage/speeds?${SPAN}&model=deep-1`);
    expect(none.json).toMatchObject({ points: [], models: [], total: { requests: 0 } });
  });

  test.each([
    ['from=2026-10-05&to=2026-10-08T00:00:00Z', 'from'],
    ['from=2026-10-05T00:00:00Z&to=soon', 'to'],
    ['from=2026-10-05T00:00:00Z&to=2026-10-01T00:00:00Z', 'to'],
    ['days=2', 'days'],
    ['month=2026-13', 'month'],
    [`${SPAN}&group_by=account`, 'group_by'],
    [`${SPAN}&account_id=x`, 'account_id'],
  ])('the query %s is refused for %s', async (query, param) => {
    const { status, json } = await app.get(ada, `/usage?${query}`);
    expect([status, (json['error'] as { param: string }).param]).toEqual([400, param]);
  });
});
