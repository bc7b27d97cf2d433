// The ledger as a file: every entry once, with amounts that add up to the balance.

import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { micro, parseDecimal } from '../../../src/core/money.ts';
import { parseCsv } from '../../support/csv.ts';
import {
  countQueries,
  describeOnEachDatabase,
  temporaryDirectory,
} from '../../support/database.ts';
import { creditOf, holdOf, settleOf, unlessRefused } from '../../support/ledger.ts';
import { samples } from '../../support/tier.ts';
import { type CustomerApp, NOW_MS, openCustomerApp } from './app.ts';

const HEAD = [
  ...['sequence', 'at', 'kind', 'id', 'key_id', 'key_name', 'model'],
  ...['svc_tokens', 'usd', 'svc_tokens_balance', 'usd_balance'],
];

describeOnEachDatabase('the ledger as CSV', () => {
  const directory = temporaryDirectory();
  let app: CustomerApp;
  beforeAll(async () => {
    app = await openCustomerApp(directory);
  });
  afterAll(() => app.close());

  async function exported(account: string, query = ''): Promise<string[][]> {
    const response = await app.open(account, 'GET', `/ledger/export${query}`);
    expect(response.status).toBe(200);
    const [head, ...lines] = parseCsv(await response.text());
    expect(head).toEqual(HEAD);
    return lines;
  }

  test('has every entry, oldest first, with both amounts and the name of the key', async () => {
    const ada = await app.customer({ credit: 100n });
    const { row } = await app.keys.create({ accountId: ada, name: '=cmd()' }, 'operator');
    await app.ledger.hold({ ...holdOf('req_11', ada, 15n), keyId: row.id, nowMs: NOW_MS });
    await app.ledger.settle({ ...settleOf('req_11', 15n), nowMs: NOW_MS });
    const response = await app.open(ada, 'GET', '/ledger/export');
    expect(response.headers.get('content-disposition')).toBe(
      'attachment; filename="ledger-2026-11-21.csv"',
    );
    expect(parseCsv(await response.text())).toEqual([
      HEAD,
      [
        ...['1', '2026-11-21T12:00:00.000Z', 'credit', 'credit:credit-1', '', '', ''],
        ...['100', '0.0001', '100', '0.0001'],
      ],
      [
        ...['2', '2026-11-21T12:00:00.000Z', 'request', 'req_11', row.id, "'=cmd()", 'swift-1'],
        ...['-0.000015', '-0.000000000015', '99.999985', '0.000099999985'],
      ],
    ]);
    expect((await exported(ada, '?only=movements')).map(([sequence]) => sequence)).toEqual(['1']);
  });

  test('rejects a wrong time, and a third file at once', async () => {
    const account = await app.customer({ credit: 1n });
    expect((await app.get(account, '/ledger/export?from=monday')).status).toBe(400);
    const open = [
      await app.open(account, 'GET', '/ledger/export'),
      await app.open(account, 'GET', '/ledger/export'),
    ];
    expect((await app.get(account, '/ledger/export')).status).toBe(429);
    for (const response of open) await response.text();
    expect(await exported(account)).toHaveLength(1);
  });

  test('a third file at once is refused before the books are read', async () => {
    const account = await app.customer({ credit: 1n });
    const open = [
      await app.open(account, 'GET', '/ledger/export'),
      await app.open(account, 'GET', '/ledger/export'),
    ];
    const invalid = await countQueries(() => app.get(account, '/ledger/export?from=monday'));
    for (const path of ['/ledger/export', '/receipts/export', '/requests/export']) {
      const refused = await countQueries(async () => {
        const { status } = await app.get(account, `${path}?from=2026-01-01T00:00:00Z`);
        expect([path, status]).toEqual([path, 429]);
      });
      expect([path, refused]).toEqual([path, invalid]);
    }
    for (const response of open) await response.text();
  });

  test('a file that there is not takes no place of others', async () => {
    const account = await app.customer();
    for (let asked = 0; asked < 3; asked += 1) {
      expect((await app.get(account, '/receipts/export')).status).toBe(404);
    }
    expect(await exported(account)).toEqual([]);
  });

  const DAY_MS = 86_400_000;
  const moves = fc.array(
    fc.record({
      kind: fc.constantFrom('credit', 'adjustment', 'request'),
      amount: fc.bigInt(-(10n ** 13n), 10n ** 13n),
      day: fc.integer({ min: 0, max: 9 }),
    }),
    { maxLength: 12 },
  );

  const adjustment = (amount: bigint) => ({ kind: 'adjustment' as const, amount, day: 0 });
  const request = { kind: 'request' as const, amount: 1n, day: 0 };
  const leavesTooLittle = [
    ...[adjustment(-9_999_999_999_983n), adjustment(-9_999_999_999_988n)],
    ...[request, request],
  ];

  test('law: any cut into spans has every entry once, and amounts that add up to page and balance', async () => {
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(
        moves,
        fc.array(fc.integer({ min: 0, max: 10 }), { maxLength: 3 }),
        async (drawn, cuts) => {
          runs += 1;
          const account = await app.customer({ credit: 20_000_000n });
          for (const [index, move] of drawn.entries()) {
            const id = `law${runs}x${index}`;
            const nowMs = NOW_MS + move.day * DAY_MS;
            const amount = micro(move.amount === 0n ? 1n : move.amount);
            if (move.kind === 'request') {
              const hold = { ...holdOf(`req_${id}`, account, 15n), nowMs };
              // Corrections may have left too little to hold.
              if ((await app.ledger.hold(hold)).ok) {
                await app.ledger.settle({ ...settleOf(hold.requestId, 15n), nowMs });
              }
            } else {
              const kind = amount < 0n ? 'adjustment' : 'credit';
              const movement = { ...creditOf(id, account, amount), kind, nowMs } as const;
              await unlessRefused(app.ledger.credit(movement));
            }
          }
          const edges = [...new Set(cuts)]
            .sort((a, b) => a - b)
            .map((day) => NOW_MS + day * DAY_MS);
          const spans = [undefined, ...edges].map((from, index) => [from, edges[index]] as const);
          const parts: string[][] = [];
          for (const [from, to] of spans) {
            const query = new URLSearchParams();
            if (from !== undefined) query.set('from', new Date(from).toISOString());
            if (to !== undefined) query.set('to', new Date(to).toISOString());
            parts.push(...(await exported(account, `?${query}`)));
          }
          const page = (await app.get(account, '/ledger?limit=200')).json['data'] as Record<
            string,
            unknown
          >[];
          expect(
            parts.map(([sequence, at, kind, id, , , model, amount, usd, balance]) => ({
              ...{ sequence: Number(sequence), kind, id, at, model: model || null },
              ...{ amount, amount_usd: usd, balance },
            })),
          ).toEqual(page.toReversed() as never);
          const sum = (column: number, decimals: number) =>
            parts.reduce(
              (all, line) => all + (parseDecimal(line[column] ?? '', decimals) ?? 0n),
              0n,
            );
          const { posted } = await app.dependencies.store.books.balance(account);
          expect(sum(7, 6)).toBe(posted);
          expect(sum(8, 18)).toBe(posted * app.dependencies.serviceState().catalog.usdPerMillion);
        },
      ),
      {
        numRuns: samples(8, 60),
        examples: [[leavesTooLittle, []]],
      },
    );
  });
});
