// `tollgate reconcile` on a real database: what it prints, and its exit codes.

import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { usdRate } from '../../src/core/money.ts';
import { newDatabase, temporaryDirectory } from '../support/database.ts';
import { booksOver, closeBooks, fundAccount, holdOf, settleOf } from '../support/ledger.ts';
import { createTollgate } from './tollgate.ts';

// A child process a command takes its time on a machine that is busy with other things.
setDefaultTimeout(60_000);

const home = temporaryDirectory();
const tollgate = createTollgate(home);

const START = Date.parse('2026-10-02T10:00:00Z');

const CATALOG = `
[[upstream]]
id = "openai"
dialect = "chat"
base_url = "https://api.openai.com/v1"
[[model]]
slug = "swift"
context_window = 1000
max_output = 100
price = { input = "1", output = "1" }
served_by = [{ upstream = "openai", model = "gpt-5" }]
`;

const OPENAI = ['--upstream', 'openai'];

const bill = (amount: string) =>
  `start_time,amount_value,amount_currency,line_item\n1790899200,${amount},usd,"gpt-5-2026-01-01, input"\n`;

beforeAll(async () => {
  await Bun.write(join(home, 'catalog.toml'), CATALOG);
  await Bun.write(join(home, 'same.csv'), bill('1.5'));
  await Bun.write(join(home, 'other.csv'), bill('2.5'));
  await tollgate.json('account', 'create', '--email', 'ann@example.com');
  const open = booksOver(await newDatabase(join(home, 'data'), 'tollgate'));
  await fundAccount(open, 'ben', 10n ** 12n);
  const attempt = {
    ...{ upstream: 'openai', model: 'swift', upstreamModel: 'gpt-5', credential: '1' },
    ...{ startedAt: START, cost: '1500000' },
    usage: {
      inputTokens: 9,
      cachedInputTokens: 0,
      cacheWriteTokens: 0,
      outputTokens: 3,
      basis: 'reported',
    },
  };
  await open.ledger.hold({ ...holdOf('r1', 'ben', 15n), nowMs: START });
  const settle = { ...settleOf('r1', 15n), usdPerMillion: usdRate(1_000_000n), nowMs: START + 1 };
  await open.ledger.settle({ ...settle, attempts: JSON.stringify([attempt]) });
  await closeBooks(open);
});

test('ends with 0 where the bill agrees', async () => {
  expect(await tollgate.run('reconcile', 'same.csv', ...OPENAI)).toEqual({
    exitCode: 0,
    stdout: `openai, from 2026-10-02T00:00:00.000Z to 2026-10-03T00:00:00.000Z.
1.5 USD billed, 1.5 in the books: a difference of 0.
Rows that differ by more than 1 %: 0 of 1.
Requests that were settled after a crash, and have no cost: 0.
`,
    stderr: '',
  });
});

test('ends with 1 where it differs, and says which row and why', async () => {
  expect(await tollgate.run('reconcile', 'other.csv', ...OPENAI, '--month', '2026-10')).toEqual({
    exitCode: 1,
    stdout: `openai, from 2026-10-01T00:00:00.000Z to 2026-11-01T00:00:00.000Z.
2.5 USD billed, 1.5 in the books: a difference of 1.
Rows that differ by more than 1 %: 1 of 1.
DAY         MODEL             KEY  BILLED  BOOKED  BILL USD  BOOKS USD  LIKELY CAUSE
2026-10-02  gpt-5-2026-01-01  -    -       1       2.5       1.5        price
price: Amounts differ and no tokens do: another service tier, or a price that has changed.
Requests that were settled after a crash, and have no cost: 0.
`,
    stderr: '',
  });
});

test('prints the same as JSON, with all digits', async () => {
  const { exitCode, stdout } = await tollgate.run('reconcile', 'other.csv', ...OPENAI, '--json');
  expect(exitCode).toBe(1);
  expect(JSON.parse(stdout)).toEqual({
    ...{ ok: false, tolerance_percent: '1', upstreams: ['openai'] },
    ...{ from: '2026-10-02T00:00:00.000Z', to: '2026-10-03T00:00:00.000Z' },
    crashed_requests: 0,
    totals: { vendor: '2.5', books: '1.5', difference: '1' },
    rows: [
      {
        ...{ day: '2026-10-02', model: 'gpt-5-2026-01-01', key: '', ok: false },
        difference_usd: '1',
        vendor: { rows: 1, usd: '2.5' },
        books: {
          ...{ rows: 1, requests: 1, usd: '1.5' },
          ...{ input: 9, cached_input: 0, cache_write: 0, output: 3 },
        },
        causes: ['price'],
      },
    ],
    causes: { price: expect.stringContaining('service tier') },
  });
});

test('the tolerance decides, and a key needs an export that names it', async () => {
  expect(
    (await tollgate.run('reconcile', 'other.csv', ...OPENAI, '--tolerance', '40')).exitCode,
  ).toBe(0);
  expect(await tollgate.refusal('reconcile', 'other.csv', ...OPENAI, '--key', 'laptop=1')).toEqual([
    1,
    'bad_row',
  ]);
});

test.each([
  [['--tolerance', 'much'], 'invalid_number', 1],
  [['--month', '2026-13'], 'invalid_time', 1],
  [['--key', 'laptop'], 'invalid_key', 1],
  [['--upstream', 'other'], 'unknown_name', 1],
  [['--vendor', 'other'], 'usage', 2],
] as const)('rejects %p', async (options, code, exitCode) => {
  expect(await tollgate.refusal('reconcile', 'same.csv', ...OPENAI, ...options)).toEqual([
    exitCode,
    code,
  ]);
});
