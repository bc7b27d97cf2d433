// The list of requests, the search, the explanation of one, and the export of all.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { micro, usdRate } from '../../../src/core/money.ts';
import { fileResponse } from '../../../src/dashboard/customer/exports.ts';
import {
  csvCell,
  csvPages,
  type ReadRequests,
} from '../../../src/dashboard/customer/requests-csv.ts';
import type { ListedRequest } from '../../../src/ledger/request-list.ts';
import { describeOnEachDatabase, temporaryDirectory } from '../../support/database.ts';
import { waitUntil } from '../../support/upstream.ts';
import { addRecords, DAY, usageRecord } from '../../support/usage.ts';
import { type CustomerApp, openCustomerApp } from './app.ts';

const directory = temporaryDirectory();

describeOnEachDatabase("a customer's requests", () => {
  let app: CustomerApp;
  let ada: string;
  let bob: string;

  beforeAll(async () => {
    app = await openCustomerApp(directory);
    ada = await app.customer({ credit: 100n });
    bob = await app.customer({ credit: 100n });
    await addRecords(app.dependencies.store.database, [
      usageRecord({
        requestId: 'req_Old0000000001',
        accountId: ada,
        startedAt: DAY,
        endUser: '=1+1',
      }),
      usageRecord({
        requestId: 'req_Old0000000002',
        accountId: ada,
        startedAt: DAY + 1,
        outcome: 'gateway_failed',
        failure: 'bad_request',
        modelServed: null,
        debited: micro(0n),
      }),
      usageRecord({ requestId: 'req_Old0000000003', accountId: bob, startedAt: DAY }),
    ]);
  });

  afterAll(() => app.close());

  const ids = ({ json }: { json: Record<string, unknown> }) =>
    (json['data'] as { id: string }[]).map(({ id }) => id);

  test('the chart counts requests by their end, in hours or days of at most 400 days', async () => {
    const chart = async (from: string, to: string) =>
      (await app.get(ada, `/requests/chart?from=${from}T00:00:00Z&to=${to}T00:00:00Z`)).json;
    expect(await chart('2026-10-05', '2026-10-06')).toEqual({
      step: 'hour',
      buckets: expect.arrayContaining(['2026-10-05T00:00:00.000Z', '2026-10-05T23:00:00.000Z']),
      completed: [1, ...Array(23).fill(0)],
      cancelled: Array(24).fill(0),
      failed: [1, ...Array(23).fill(0)],
      refused: Array(24).fill(0),
    });
    expect(await chart('2026-10-01', '2026-10-08')).toMatchObject({
      step: 'day',
      completed: [0, 0, 0, 0, 1, 0, 0],
    });
    for (const from of ['2025-01-01', '2026-10-09']) {
      expect(await chart(from, '2026-10-08')).toMatchObject({ error: { param: 'to' } });
    }
  });

  describe('the list', () => {
    test('shows each request as its owner may see it, newest first', async () => {
      const { status, json } = await app.get(ada, '/requests');
      expect([status, json['object']]).toEqual([200, 'list']);
      // A page ends after its time, so a busy machine may have one more, without a request.
      if (json['next'] !== null) {
        const rest = await app.get(ada, `/requests?after=${json['next']}`);
        expect(rest.json).toMatchObject({ data: [], next: null });
      }
      expect(json['data']).toEqual([
        {
          ...common,
          id: 'req_Old0000000002',
          started_at: '2026-10-05T00:00:00.001Z',
          model_served: null,
          outcome: 'failed',
          status: 400,
          problem: {
            status: 400,
            code: 'invalid_request',
            reason: 'model_rejected',
            message: expect.stringMatching(/^The model refused this request as invalid\. Check/),
            what_to_do: expect.stringMatching(/^Correct the request/),
          },
          debited: '0',
          debited_usd: '0',
          end_user: null,
        },
        {
          ...common,
          id: 'req_Old0000000001',
          started_at: '2026-10-05T00:00:00.000Z',
          model_served: 'swift-1',
          outcome: 'completed',
          status: 200,
          problem: null,
          debited: '0.00001',
          debited_usd: '0.00000000001',
          end_user: '=1+1',
        },
      ]);
    });

    test('goes on after a page', async () => {
      const first = await app.get(ada, '/requests?limit=1');
      const next = first.json['next'] as string;
      const second = await app.get(ada, `/requests?limit=1&after=${next}`);
      expect([ids(first), ids(second), second.json['next']]).toEqual([
        ['req_Old0000000002'],
        ['req_Old0000000001'],
        null,
      ]);
    });

    test.each([
      ['outcome=failed', ['req_Old0000000002']],
      ['model=swift-1&outcome=completed', ['req_Old0000000001']],
      ['status=400', ['req_Old0000000002']],
      ['status=4xx&code=invalid_request', ['req_Old0000000002']],
      ['status=2xx', ['req_Old0000000001']],
      ['status=5xx', []],
      ['outcome=refused', []],
      ['end_user=%3D1%2B1', ['req_Old0000000001']],
      [`end_user=${encodeURIComponent('\u{1f600}'.repeat(256))}`, []],
      ['key=key_2', []],
      ['to=2026-10-05T00:00:00.001Z', ['req_Old0000000001']],
      ['from=2026-10-05T00:00:00.001Z', ['req_Old0000000002']],
      ['id=req_Old000000', ['req_Old0000000002', 'req_Old0000000001']],
      ['id=req_Old0000000001%20', ['req_Old0000000001']],
      ['id=req_Old0000000003', []],
    ])('filtered by %s', async (query, found) => {
      expect(ids(await app.get(ada, `/requests?${query}`))).toEqual(found);
    });

    test.each([
      'id=req_Old00000',
      'id=%25%25%25%25%25%25%25%25%25%25',
      'after=1',
      'after=1.x',
      'outcome=x',
      'limit=0',
      'from=x',
    ])('refuses %s', async (query) => {
      expect((await app.get(ada, `/requests?${query}`)).status).toBe(400);
    });

    test('can be filtered by the models that there are, the own keys and the playground', async () => {
      const { row } = await app.keys.create({ accountId: bob, name: 'Bot' }, 'operator');
      const { json } = await app.get(bob, '/requests/filters');
      expect(json['keys']).toEqual([
        { id: row.id, name: 'Bot', masked: row.masked },
        { id: 'playground', name: 'Playground', masked: 'no key' },
      ]);
      expect(json['models']).toEqual(['demo-chat', 'demo-reasoner']);
    });
  });

  const common = {
    object: 'request',
    duration_ms: 1_000,
    key_id: 'key_1',
    format: 'chat',
    stream: true,
    model: 'swift-1',
    input_tokens: 100,
    cached_input_tokens: 40,
    output_tokens: 20,
    reasoning_tokens: 5,
    count: 1,
  };

  test('only its owner can read the history of a request', async () => {
    await app.spend(bob, 15n);
    const own = await app.get(bob, '/requests/req_1');
    expect([own.status, own.json['request_id']]).toEqual([200, 'req_1']);
    expect(JSON.stringify(own.json)).not.toContain('demo');
    const foreign = await app.get(ada, '/requests/req_1');
    const unknown = await app.get(ada, '/requests/req_2');
    expect(foreign).toMatchObject({ status: 404, json: { error: { code: 'request_not_found' } } });
    const { request_id: _one, ...rest } = foreign.json['error'] as { request_id: string };
    const { request_id: _other, ...same } = unknown.json['error'] as { request_id: string };
    expect(rest).toEqual(same);
  });

  describe('the file', () => {
    test('has every row of the list, one header, and nothing that runs', async () => {
      const response = await app.open(ada, 'GET', '/requests/export');
      expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
      expect(response.headers.get('content-disposition')).toBe(
        'attachment; filename="requests-2026-11-21.csv"',
      );
      const [header, ...lines] = (await response.text()).split('\r\n');
      expect(header?.split(',').slice(0, 3)).toEqual([
        '"request_id"',
        '"started_at"',
        '"ended_at"',
      ]);
      expect(lines).toEqual([
        '"req_Old0000000002","2026-10-05T00:00:00.001Z","2026-10-05T00:00:01.001Z","key_1","chat",true,"swift-1","","gateway_failed",100,40,0,20,5,"","0","0","0","0","0","0","",400,"invalid_request","The model refused this request as invalid. Check message order, images, tool schemas, tool results and the response format.","Correct the request. Sent again unchanged, it fails again.",1',
        `"req_Old0000000001","2026-10-05T00:00:00.000Z","2026-10-05T00:00:01.000Z","key_1","chat",true,"swift-1","swift-1","completed",100,40,0,20,5,"reported","0.00001","0.00001","0","0.00000000001","0.00000000001","0","'=1+1",200,"","","",1`,
        '',
      ]);
    });

    test('is filtered like the list', async () => {
      const response = await app.open(ada, 'GET', '/requests/export?outcome=failed');
      expect((await response.text()).split('\r\n')).toHaveLength(3);
    });

    test('is sent twice at once and no more, until one is done or given up', async () => {
      const begin = () => app.open(ada, 'GET', '/requests/export');
      const [one, two, three] = [await begin(), await begin(), await begin()];
      expect([one.status, two.status, three.status]).toEqual([200, 200, 429]);
      await one.text();
      const four = await begin();
      expect(four.status).toBe(200);
      await four.body?.cancel();
      const five = await begin();
      expect(five.status).toBe(200);
      await Promise.all([two.text(), five.text()]);
    });

    const row = usageRecord({ endUser: 'a' }) as unknown as ListedRequest;
    const entries = [{ kind: 'ended', row }] as const;

    const file = (read: ReadRequests, onEnd: () => void) =>
      fileResponse(
        { pieces: csvPages(read, usdRate(1_000_000n)), type: 'text/csv', filename: 'x.csv' },
        { onEnd },
      );

    test('reads no further ahead than it is taken', async () => {
      let reads = 0;
      let ended = 0;
      const response = file(
        async () => {
          reads += 1;
          return { entries, next: { ended: { startedAt: 1, row: 1 }, refused: undefined } };
        },
        () => {
          ended += 1;
        },
      );
      const reader = response.body?.getReader();
      for (let taken = 0; taken < 10; taken += 1) await reader?.read();
      await new Promise((resolve) => setImmediate(resolve));
      expect(reads).toBeLessThanOrEqual(11);
      await reader?.cancel();
      const before = reads;
      for (let turns = 0; turns < 5; turns += 1) await new Promise((go) => setImmediate(go));
      expect([reads, ended > 0]).toEqual([before, true]);
    });

    test('breaks off where the books cannot be read, and never looks whole', async () => {
      let ended = false;
      const response = file(
        () => Promise.reject(new Error('unreadable')),
        () => {
          ended = true;
        },
      );
      expect(await response.text().catch((error: Error) => error.message)).toBe('unreadable');
      await waitUntil(() => ended);
    });

    const SIGNS = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];
    const SEPARATORS = [';', ',', '|', '\t', '\n', '\r'];

    test('text without a formula is quoted and read back as it was', () => {
      const texts = fc
        .string({ unit: 'grapheme' })
        .filter((text) => !/[=+\-@＝＋－＠\t\r\n]/.test(text));
      fc.assert(
        fc.property(texts, (text) => {
          const cell = csvCell(text);
          expect([cell[0], cell.at(-1)]).toEqual(['"', '"']);
          expect(cell.slice(1, -1).replaceAll('""', '"')).toBe(text);
        }),
      );
      expect([csvCell(-5), csvCell(true)]).toEqual(['-5', 'true']);
    });

    test('no separator makes a cell that begins like a formula (B-184)', () => {
      const pieces = [...SIGNS, ...SEPARATORS, '"', "'", ' ', 'x', '1'];
      const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 12 });
      fc.assert(
        fc.property(texts, fc.constantFrom(...SEPARATORS), (text, separator) => {
          const line = `${csvCell('req_1')},${csvCell(text.join(''))}`;
          for (const cell of line.split(separator)) {
            expect(cell.replaceAll(/["\s]/g, '')).not.toMatch(/^[=+\-@＝＋－＠]/);
          }
        }),
        { numRuns: 2_000 },
      );
    });

    test.each([
      ["x;=1+cmd|'/C calc'!A0", `"x;'=1+cmd|'/C calc'!A0"`],
      ['x\t@SUM(A1)', `"x\t'@SUM(A1)"`],
      ['x\n ＝1', `"x\n' ＝1"`],
      ['\t=1', `"'\t'=1"`],
      ['x;"=1"', `"x;'""=1"""`],
      ['a-b=c', '"a-b=c"'],
    ])('%j', (value, cell) => {
      expect(csvCell(value)).toBe(cell);
    });
  });
});
