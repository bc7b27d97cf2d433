// `tollgate prices` over a real database: what it shows of a catalog, and that booked charges are
// reproduced exactly from the current prices, including fallbacks and night windows.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import fc from 'fast-check';
import { loadCatalog } from '../../src/catalog/catalog.ts';
import type { Usage } from '../../src/core/generation.ts';
import type { Catalog, Model } from '../../src/core/model.ts';
import { micro, tokenCount, usdRate } from '../../src/core/money.ts';
import { chargeServed, type Price } from '../../src/core/price.ts';
import { priceAt } from '../../src/core/price-book.ts';
import { eachUsedRequest, type UsedRequest } from '../../src/ledger/usage-records.ts';
import { chargeAgain, type PriceOf, preview } from '../../src/operations/price-preview.ts';
import type { SqliteDatabase } from '../../src/store/database.ts';
import { priceVersions } from '../../src/store/money-tables.ts';
import { archiveAll, live, type PastEvent } from '../operations/archive/past.ts';
import { newDatabase, temporaryDirectory } from '../support/database.ts';
import {
  addAccount,
  booksOver,
  closeBooks,
  fundAccount,
  type OpenBooks,
} from '../support/ledger.ts';
import { flatPrice } from '../support/price.ts';
import { createTollgate } from './tollgate.ts';

// A child process a command takes its time on a machine that is busy with other things.
setDefaultTimeout(60_000);

const directory = temporaryDirectory();

const CATALOG = `
[service]
usd_per_million = "2"
[[upstream]]
id = "demo"
dialect = "demo"

[[model]]
slug = "swift-1"
aliases = ["swift"]
context_window = 1000
max_output = 100
served_by = [{ upstream = "demo", model = "x" }]
fallbacks = ["swift-0"]
[model.price]
input = "0.15"
cached_input = "0.03"
output = "0.6"
[[model.price.windows]]
from = "16:30"
to = "00:30"
days = ["fri", "sat"]
input = "0.075"
output = "0.3"
[[model.prices]]
valid_from = 2026-10-15T00:00:00Z
input = "0.2"
cache_write = "0.25"
output = "0.700000000001"

[[model]]
slug = "swift-0"
context_window = 1000
max_output = 100
served_by = [{ upstream = "demo", model = "y" }]
price = { input = "0.1", cached_input = "0.05", output = "0.8" }
`;

const NIGHTLY = '2026-10-02T17:00:00Z';
const DAILY = '2026-10-05T17:00:00Z';
const LATE = '2026-10-20T12:00:00Z';

const catalog = loadCatalog({ text: CATALOG, environment: {}, nowMs: 0 });

function modelOf(name: string, of: Catalog = catalog): Model {
  return of.resolve(name) ?? expect.unreachable();
}

type Sale = {
  readonly id: string;
  readonly accountId: string;
  readonly requested: string;
  /** Absent: nothing answered. */
  readonly served: string | undefined;
  readonly startedAt: number;
  readonly usage: Usage;
  /** It was never settled: the process had died. */
  readonly orphan?: boolean;
};

/** Books a request as the pipeline does: at the prices of its start, the lower of the two. */
async function book({ ledger }: OpenBooks, sale: Sale): Promise<void> {
  const { id: requestId, accountId, startedAt, usage } = sale;
  const price = priceAt(modelOf(sale.requested).prices, startedAt);
  const promptTokens = tokenCount(usage.inputTokens);
  const nowMs = startedAt + 1_000;
  const held = await ledger.hold({
    ...{ requestId, accountId, keyId: 'key_1', format: 'chat', stream: true },
    ...{
      model: sale.requested,
      price,
      amount: micro(1_000_000n),
      promptTokens,
      outputBound: tokenCount(100),
    },
    nowMs: startedAt,
  });
  // With an empty balance the request was never recorded.
  if (!held.ok) return;
  const end = { requestId, attempts: '[]', usdPerMillion: usdRate(1_000_000n), nowMs };
  if (sale.served === undefined) {
    const nothing = { ...usage, inputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0 };
    const none = { ...nothing, outputTokens: 0, reasoningTokens: 0 };
    await ledger.release({ ...end, outcome: 'upstream_failed', usage: none });
    return;
  }
  const servedPrice = priceAt(modelOf(sale.served).prices, startedAt);
  const served = { model: sale.served, upstream: 'demo', price: servedPrice };
  if (sale.orphan === true) {
    const { outputTokens, reasoningTokens } = usage;
    await ledger.checkpoint({ requestId, served, outputTokens, reasoningTokens, nowMs });
    const recover = { live: [], createdBefore: nowMs, usdPerMillion: usdRate(1_000_000n), nowMs };
    await ledger.recover({ ...recover, phase: 'ended' });
    return;
  }
  const charge = chargeServed(usage, price, servedPrice);
  await ledger.settle({ ...end, served, outcome: 'completed', usage, charge });
}

function used(input: number, cached: number, written: number, output: number): Usage {
  return {
    ...{ inputTokens: input, cachedInputTokens: cached, cacheWriteTokens: written },
    ...{ outputTokens: output, reasoningTokens: 0, basis: 'reported' },
  };
}

const anyUsage = fc
  .tuple(fc.nat(100_000), fc.nat(100), fc.nat(100), fc.nat(100_000))
  .map(([input, cached, written, output]) => {
    const cachedInput = Math.floor((input * cached) / 200);
    return used(input, cachedInput, Math.floor((input * written) / 200), output);
  });

const anySale = fc
  .record({
    accountId: fc.constantFrom('rich', 'poor'),
    requested: fc.constantFrom('swift-1', 'swift-0'),
    served: fc.constantFrom('swift-1', 'swift-0', undefined),
    startedAt: fc.integer({
      min: Date.parse('2026-10-01T00:00:00Z'),
      max: Date.parse('2026-10-31T23:59:59Z'),
    }),
    usage: anyUsage,
    orphan: fc.boolean(),
  })
  .map((sale): Omit<Sale, 'id'> => sale);

const ALWAYS = { fromMs: 0, untilMs: Date.parse('2027-01-01T00:00:00Z') };

/** The prices that were booked, by the versions on the records. */
async function bookedPrices({ db }: SqliteDatabase): Promise<PriceOf> {
  const versions = new Map<string, Price>(
    (await db.select().from(priceVersions).all()).map((row) => [row.version, row]),
  );
  return ({ priceVersionRequested, priceVersionServed }, role) =>
    versions.get((role === 'served' ? priceVersionServed : undefined) ?? priceVersionRequested);
}

test('law: charges come out again from the versions on the records, and from the catalog', async () => {
  const seen = { fallbacks: 0, losses: 0, recovered: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(anySale, { minLength: 1, maxLength: 25 }), async (sales) => {
      const open = booksOver(await newDatabase(directory));
      try {
        await fundAccount(open, 'rich', 10n ** 15n);
        await fundAccount(open, 'poor', 20_000_000_000n);
        for (const [index, sale] of sales.entries()) await book(open, { ...sale, id: `r${index}` });
        const { database } = open;
        const booked = await bookedPrices(database);
        const records = await Array.fromAsync(eachUsedRequest(database, ALWAYS));
        for (const record of records) {
          expect(chargeAgain(record, booked)).toBe(record.charged);
          if (record.modelServed !== undefined && record.modelServed !== record.modelRequested)
            seen.fallbacks += 1;
          if (record.loss > 0n) seen.losses += 1;
          if (record.usage.basis === 'recovered') seen.recovered += 1;
        }
        const present: PriceOf = ({ startedAt, modelRequested, modelServed }, role) =>
          priceAt(
            modelOf(role === 'served' ? (modelServed ?? '') : modelRequested).prices,
            startedAt,
          );
        const { totals, unpriced } = await preview(each(records), present);
        expect([totals.requests, unpriced.size]).toEqual([records.length, 0]);
        expect(totals.wouldBe).toBe(totals.booked);
        expect(totals.booked).toBe(micro(records.reduce((sum, { charged }) => sum + charged, 0n)));
      } finally {
        await closeBooks(open);
      }
    }),
    { numRuns: 30 },
  );
  expect(Object.values(seen).every((count) => count > 5)).toBe(true);
});

async function* each<Item>(items: readonly Item[]): AsyncGenerator<Item> {
  yield* items;
}

describe('preview adds up', () => {
  const price = (version: string, input: bigint): Price => {
    const each = input * 10n ** 12n;
    return flatPrice(version, each);
  };
  const request = (more: Partial<UsedRequest>): UsedRequest => ({
    ...{ startedAt: 0, modelRequested: 'a', modelServed: 'a', priceVersionRequested: 'a1' },
    ...{ priceVersionServed: 'a1', usage: used(10, 3, 2, 5), charged: micro(15n), loss: micro(0n) },
    ...more,
  });
  const prices: Record<string, Price> = { a: price('a2', 2n), b: price('b2', 1n) };
  const priceOf: PriceOf = ({ modelRequested, modelServed }, role) =>
    prices[(role === 'served' ? modelServed : undefined) ?? modelRequested];

  test('by the model that was asked for, each request in one sum or named', async () => {
    const requests = [
      request({ charged: micro(1n), loss: micro(1n) }),
      request({ modelServed: 'b', charged: micro(4n) }),
      request({ modelServed: undefined, charged: micro(0n), usage: used(0, 0, 0, 0) }),
      request({ modelServed: 'gone', charged: micro(7n) }),
      request({ modelRequested: 'lost', modelServed: 'a', charged: micro(9n) }),
      request({ modelRequested: 'lost', modelServed: undefined, charged: micro(0n) }),
      request({ modelRequested: 'b', modelServed: 'a', charged: micro(2n) }),
    ];
    const tokens = { cachedInput: 3, cacheWrite: 2, output: 5 };
    const b = {
      requests: 1,
      input: 5,
      ...tokens,
      booked: micro(2n),
      wouldBe: micro(15_000_000n),
      loss: micro(0n),
    };
    const a = {
      ...{ requests: 3, input: 10, cachedInput: 6, cacheWrite: 4, output: 10 },
      ...{ booked: micro(5n), wouldBe: micro(45_000_000n), loss: micro(1n) },
    };
    expect(await preview(each(requests), priceOf)).toEqual({
      models: new Map([
        ['a', a],
        ['b', b],
      ]),
      totals: {
        ...{ requests: 4, input: 15, cachedInput: 9, cacheWrite: 6, output: 15 },
        ...{ booked: micro(7n), wouldBe: micro(60_000_000n), loss: micro(1n) },
      },
      unpriced: new Map([
        ['gone', { requests: 1, booked: micro(7n) }],
        ['lost', { requests: 2, booked: micro(9n) }],
      ]),
    });
  });
});

describe('the commands', () => {
  const home = join(directory, 'home');
  const tollgate = createTollgate(home);
  let ann = '';

  const month = (name: string) => ['prices', 'preview', '--catalog', name, '--month', '2026-10'];

  beforeAll(async () => {
    await Bun.write(join(home, 'catalog.toml'), CATALOG);
    await Bun.write(
      join(home, 'dearer.toml'),
      CATALOG.replace('output = "0.6"', 'output = "0.9"')
        .replace('slug = "swift-0"\n', 'slug = "swift-2"\n')
        .replace('fallbacks = ["swift-0"]', 'fallbacks = ["swift-2"]'),
    );
    const made = await tollgate.json(
      'account',
      'create',
      '--email',
      'ann@example.com',
      '--credit',
      '1000000',
    );
    ann = (made['account'] as { id: string }).id;
    const open = booksOver(await openHome());
    await fundAccount(open, 'ben', 10n ** 12n);
    const sale = (id: string, startedAt: string, more: Partial<Sale> = {}): Sale => ({
      ...{ id, accountId: ann, requested: 'swift-1', served: 'swift-1' },
      ...{ startedAt: Date.parse(startedAt), usage: used(1_000, 200, 100, 100), ...more },
    });
    await book(open, sale('r1', NIGHTLY));
    await book(open, sale('r2', DAILY));
    await book(open, sale('r3', LATE, { accountId: 'ben' }));
    await book(open, sale('r4', DAILY, { served: 'swift-0' }));
    await book(open, sale('r5', DAILY, { served: undefined }));
    await book(open, sale('r6', '2026-11-01T00:00:00Z'));
    await book(open, sale('r7', '2026-09-30T23:59:59.999Z'));
    await closeBooks(open);
  });

  async function openHome(): Promise<SqliteDatabase> {
    return newDatabase(join(home, 'data'), 'tollgate');
  }

  test('preview: the present catalog makes of a month what was booked', async () => {
    // By night 1,000 × 0.075 + 100 × 0.3 = 105; by day 800 × 0.15 + 200 × 0.03 + 100 × 0.6 = 186;
    // later 900 × 0.2 + 100 × 0.25 + 100 × 0.700000000001 = 275, rounded; the fallback's own
    // 800 × 0.1 + 200 × 0.05 + 100 × 0.8 = 170 is less than the 186 of the model asked for.
    const amount = '736';
    const row = {
      requests: 5,
      tokens: { input: 2_800, cached_input: 800, cache_write: 400, output: 400 },
      ...{ booked: amount, would_be: amount, difference: '0', loss: '0' },
    };
    expect(await tollgate.json(...month('catalog.toml'))).toEqual({
      from: '2026-10-01T00:00:00.000Z',
      to: '2026-11-01T00:00:00.000Z',
      account_id: null,
      prices_at: null,
      models: [{ model: 'swift-1', ...row }],
      totals: row,
      not_priced: [],
      later_prices: [],
    });
  });

  test('preview: another catalog, one account, models that it lacks', async () => {
    const answer = await tollgate.json(...month('dearer.toml'), '--account', 'ann@example.com');
    const tokens = { input: 1_400, cached_input: 400, cache_write: 200, output: 200 };
    const row = {
      ...{ requests: 3, tokens, booked: '291', would_be: '321', difference: '30', loss: '0' },
    };
    expect(answer).toMatchObject({
      account_id: ann,
      models: [{ model: 'swift-1', ...row }],
      totals: row,
      not_priced: [{ model: 'swift-0', requests: 1, booked: '170' }],
    });
    const { stdout } = await tollgate.run(...month('dearer.toml'));
    expect(stdout).toContain(
      'swift-0 is not in that catalog: 1 requests, booked 170, are in no sum.',
    );
    expect(stdout).toMatch(/^total +4 .* 566 +596 +30 +0$/m);
  });

  test('preview: prices that begin later are named, and applied when asked for', async () => {
    const span = ['--from', '2026-10-01', '--to', '2026-10-05T18:00:00Z', '--account', ann];
    const tryOn = ['prices', 'preview', '--catalog', 'catalog.toml', ...span];
    const before = await tollgate.json(...tryOn);
    expect(before).toMatchObject({ later_prices: ['swift-1'], totals: { difference: '0' } });
    expect((await tollgate.run(...tryOn)).stdout).toContain('swift-1 has prices that begin after');
    // Night and day at 275.0000000001 each; the fallback keeps its own price, which is lower.
    expect(await tollgate.json(...tryOn, '--prices-at', '2026-10-15')).toMatchObject({
      prices_at: '2026-10-15T00:00:00.000Z',
      later_prices: [],
      totals: { requests: 4, booked: '461', would_be: '720', difference: '259' },
    });
  });

  test('preview: the last month is the default, in UTC', async () => {
    const now = new Date();
    const first = (offset: number): string =>
      new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset, 1)).toISOString();
    const answer = await tollgate.json('prices', 'preview', '--catalog', 'catalog.toml');
    expect([answer['from'], answer['to']]).toEqual([first(-1), first(0)]);
  });

  test('preview: what cannot be is refused, and a broken candidate by its mistakes', async () => {
    await Bun.write(join(home, 'broken.toml'), CATALOG.replace('output = "0.8"', 'output = -1'));
    const refused = async (...args: string[]) =>
      tollgate.refusal('prices', 'preview', '--catalog', ...args);
    expect(await refused('broken.toml')).toEqual([1, 'invalid_catalog']);
    expect(await refused('missing.toml')).toEqual([1, 'invalid_catalog']);
    for (const span of [
      ['--month', '2026-13'],
      ['--month', '2026-10-01'],
      ['--month', '2026-10', '--from', '2026-10-01', '--to', '2026-10-02'],
      ['--from', '2026-10-01'],
      ['--to', '2026-10-01'],
      ['--from', '2026-10-01', '--to', '2026-10-01T00:00:00Z'],
      ['--from', '2026-10-01T00:00:00', '--to', '2026-10-02'],
      ['--prices-at', '2026-02-29'],
    ]) {
      expect([span, await refused('catalog.toml', ...span)]).toEqual([span, [1, 'invalid_time']]);
    }
    expect(await refused('catalog.toml', '--account', 'unknown')).toEqual([1, 'account_not_found']);
    expect(await tollgate.refusal('prices', 'preview')).toEqual([1, 'no_candidate']);
    const { stderr } = await tollgate.run('prices', 'preview', '--catalog', 'missing.toml');
    expect(stderr).toStartWith('error: --catalog names a file that does not exist: ');
  });

  test('preview: a month whose requests are archived is rejected', async () => {
    const elsewhere = join(directory, 'archived');
    const open = booksOver(await newDatabase(join(elsewhere, 'data'), 'tollgate'));
    await addAccount(open, 'acct_ada');
    const settle: PastEvent = { account: 0, what: 'settle', afterHours: 0 };
    await live(open, [{ ...settle, what: 'credit' }, settle], Date.parse(NIGHTLY));
    await live(open, [settle], Date.parse('2026-12-10T00:00:00Z'));
    const nowMs = Date.parse('2026-12-20T00:00:00Z');
    await archiveAll(open, join(elsewhere, 'archive'), nowMs);
    await closeBooks(open);
    const { run, json } = createTollgate(elsewhere);
    await Bun.write(join(elsewhere, 'catalog.toml'), CATALOG);
    const { exitCode, stdout, stderr } = await run(...month('catalog.toml'), '--json');
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toContain('2026-12-20');
    expect(await json(...month('catalog.toml').with(-1, '2026-12'))).toMatchObject({
      totals: { requests: 1 },
    });
  });

  test('show: every price, with the effective one marked', async () => {
    const { swift, versions } = bookOf();
    const answer = await tollgate.json('prices', 'show', '--model', 'swift', '--at', NIGHTLY);
    const rates = (version: string | undefined, [input, cached, written, output]: string[]) => {
      const tokens = { input, cached_input: cached, cache_write: written, output };
      return {
        version,
        svc_tokens: expect.objectContaining({ input: expect.any(String) }),
        ...tokens,
      };
    };
    expect(answer).toEqual({
      at: '2026-10-02T17:00:00.000Z',
      currency: 'USD',
      unit: '1M_tokens',
      models: [
        {
          model: 'swift-1',
          version: versions[1],
          next_change_at: '2026-10-03T00:30:00.000Z',
          prices: [
            {
              valid_from: null,
              ...rates(versions[0], ['0.3', '0.06', '0.3', '1.2']),
              windows: [
                {
                  ...{ from: '16:30', to: '00:30', days: ['fri', 'sat'], in_force: true },
                  ...rates(versions[1], ['0.15', '0.15', '0.15', '0.6']),
                },
              ],
              in_force: false,
            },
            {
              valid_from: '2026-10-15T00:00:00.000Z',
              ...rates(versions[2], ['0.4', '0.4', '0.5', '1.400000000002']),
              windows: [],
              in_force: false,
            },
          ],
        },
      ],
    });
    expect(swift.prices).toHaveLength(2);
    const { stdout } = await tollgate.run('prices', 'show', '--at', LATE);
    const lines = stdout.split('\n').map((line) => line.split(/ {2,}/).slice(0, 6).join(' | '));
    expect(lines.slice(0, 5)).toEqual([
      ' | MODEL | FROM | HOURS | INPUT | CACHED',
      ' | swift-1 | - | - | 0.15 | 0.03',
      ' | swift-1 | - | 16:30-00:30 fri sat | 0.075 | 0.075',
      '* | swift-1 | 2026-10-15 00:00:00 | - | 0.2 | 0.2',
      '* | swift-0 | - | - | 0.1 | 0.05',
    ]);
    expect(stdout).toContain('* effective at 2026-10-20 12:00:00. Times are UTC.');
  });

  function bookOf() {
    const swift = modelOf('swift-1');
    const versions = swift.prices.flatMap(({ price, windows }) => [
      price.version,
      ...windows.map((window) => window.price.version),
    ]);
    return { swift, versions };
  }

  test('show: an unknown model or time is refused', async () => {
    expect(await tollgate.refusal('prices', 'show', '--model', 'x')).toEqual([
      1,
      'model_not_found',
    ]);
    expect(await tollgate.refusal('prices', 'show', '--at', 'soon')).toEqual([1, 'invalid_time']);
  });

  test('models: the prices of now', async () => {
    const { stdout } = await tollgate.run('models');
    const now = priceAt(modelOf('swift-1').prices, Date.now());
    const shown = /^swift-1 +swift +([\d.]+)/m.exec(stdout)?.[1];
    expect(Number(shown)).toBe(Number(now.input) / 1e12);
  });
});
