// `tollgate reconcile`: reads each vendor's exports exactly, and names what makes a bill differ from
// the cost in the books.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { utcDay, utcMonth } from '../../src/core/calendar.ts';
import type { Outcome } from '../../src/core/generation.ts';
import { usdRate } from '../../src/core/money.ts';
import { OperationError } from '../../src/operations/error.ts';
import { modelKey } from '../../src/operations/reconcile/compare.ts';
import { type BillToCompare, reconcile } from '../../src/operations/reconcile/reconcile.ts';
import { temporaryDirectory } from '../support/database.ts';
import {
  addAccount,
  closeBooks,
  fundAccount,
  holdOf,
  type OpenBooks,
  openBooks,
  PRICE,
  settleOf,
} from '../support/ledger.ts';
import { rejectionOf } from '../support/thrown.ts';
import { archiveAll, live, type PastEvent } from './archive/past.ts';

const directory = temporaryDirectory();
let open: OpenBooks;
let requests = 0;

const DAY = '2026-10-02';
const SECONDS = Date.parse(DAY) / 1_000;

type Call = {
  readonly upstream?: string;
  readonly model?: string;
  readonly credential?: string;
  readonly at?: string;
  /** Of its request; default: the same. */
  readonly startedAt?: string;
  readonly usage?: readonly [input: number, cached: number, written: number, output: number];
  readonly basis?: 'reported' | 'estimated';
  /** In service tokens: each costs 0.000002 USD. */
  readonly cost?: string;
  readonly reportedCostUsd?: string;
  readonly failure?: string;
  readonly outcome?: Outcome;
};

async function call(more: Call): Promise<void> {
  requests += 1;
  const id = `r${requests}`;
  const { upstream = 'openai', model = 'gpt-5-mini', credential = '1', usage, cost } = more;
  const startedAt = Date.parse(more.at ?? `${DAY}T10:00:00Z`);
  const [inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens] = usage ?? [];
  const counts = { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens };
  const attempt = {
    ...{ upstream, model: 'swift', upstreamModel: model, credential, startedAt },
    ...{ failure: more.failure, cost, reportedCostUsd: more.reportedCostUsd },
    usage: usage === undefined ? undefined : { ...counts, basis: more.basis ?? 'reported' },
  };
  const requestedAt = Date.parse(more.startedAt ?? new Date(startedAt).toISOString());
  await open.ledger.hold({ ...holdOf(id, 'ann', 15n), nowMs: requestedAt });
  await open.ledger.settle({
    ...{ ...settleOf(id, 15n), usdPerMillion: usdRate(2_000_000n), nowMs: startedAt + 1_000 },
    ...{ attempts: JSON.stringify([attempt]), outcome: more.outcome ?? 'completed' },
  });
}

beforeAll(async () => {
  open = await openBooks(directory);
  await fundAccount(open, 'ann', 10n ** 12n);
});
afterAll(() => closeBooks(open));

async function file(text: string, name = `${crypto.randomUUID()}.csv`) {
  const path = join(directory, name);
  await Bun.write(path, text);
  return { path, name: 'bill.csv' };
}

async function run(text: string | readonly string[], more: Partial<BillToCompare> = {}) {
  const files = await Promise.all([text].flat().map((each) => file(each)));
  const rest = { upstreams: ['openai', 'openai-eu'], span: undefined, tolerance: 10_000n };
  return reconcile(open.database, { ...rest, files, keys: new Map(), ...more });
}

async function refusal(
  text: string,
  more: Partial<BillToCompare> = {},
): Promise<string | undefined> {
  return (await rejectionOf(OperationError, () => run(text, more)))?.message;
}

/** What matters of each row: its model, the difference in 10⁻⁶ USD, and the causes. */
async function found(text: string | readonly string[], more: Partial<BillToCompare> = {}) {
  const { rows } = await run(text, more);
  return rows.map(({ day, model, key, difference_usd: difference, ok, causes }) => [
    ...[day, model, key, difference === null ? null : Number(difference) * 1e6],
    ok ? 'ok' : causes.join(' '),
  ]);
}

const USAGE =
  'start_time,end_time,project_id,num_model_requests,api_key_id,model,batch,service_tier,input_tokens,output_tokens,input_cached_tokens,input_cache_write_tokens';
const COSTS = 'start_time,end_time,amount_value,amount_currency,line_item,project_id';

function usageRow(
  model: string,
  counts: readonly number[],
  more: Partial<Record<string, string>> = {},
) {
  const [requested, input, output, cached, written] = counts;
  const { at = String(SECONDS), key = 'key_a', tier = 'default' } = more;
  return [at, '0', 'p', requested, key, model, 'false', tier, input, output, cached, written].join(
    ',',
  );
}

const costRow = (item: string, amount: string, at = SECONDS) =>
  `${at},0,${amount},usd,"${item}",proj`;

describe('the bill of a model agrees', () => {
  beforeAll(async () => {
    // 100 service tokens at 2 USD a million: 0.0002 USD.
    await call({ model: 'fits', usage: [1_000, 200, 0, 50], cost: '100' });
    await call({ model: 'fits', usage: [1_000, 200, 0, 50], cost: '0.000001' });
  });

  test('where the amount is exact, in any notation', async () => {
    const exact = ['0.000200000002', '2.00000002e-04', '0.00020000000200000000000000000000000'];
    for (const amount of exact) {
      const rows = await found([COSTS, costRow('fits-2026-01-31, input', amount)].join('\n'), {
        tolerance: 0n,
      });
      expect(rows).toEqual([[DAY, 'fits-2026-01-31', '', 0, 'ok']]);
    }
  });

  test('where line items of one model add up, and OpenAI writes zero as 0E-6176', async () => {
    const lines = [
      costRow('fits-2026-01-31, input', '0.0001'),
      costRow('fits-2026-01-31, cached input', '0E-6176'),
      costRow('fits-2026-01-31, output', '0.000100000002'),
      `${SECONDS + 86_400},0,,,,`,
    ];
    const rows = await found([COSTS, ...lines].join('\r\n'), { tolerance: 0n });
    expect(rows).toEqual([[DAY, 'fits-2026-01-31', '', 0, 'ok']]);
  });

  test('where only tokens are exported and they are equal', async () => {
    const text = [USAGE, usageRow('fits', [2, 2_000, 100, 400, 0])].join('\n');
    expect(await found(text)).toEqual([[DAY, 'fits', '', null, 'ok']]);
  });
});

describe('names as the likely cause', () => {
  /** One day per cause, so that each has its own rows. */
  async function causeOf(day: number, calls: readonly Call[], bill: readonly string[]) {
    const date = `2026-11-${String(day).padStart(2, '0')}`;
    for (const each of calls) await call({ ...each, at: `${date}T23:59:59Z` });
    const at = String(Date.parse(date) / 1_000);
    const rows = await found(bill.map((text) => text.replaceAll('AT', at)));
    return rows.map((row) => row.at(-1));
  }
  const one = { usage: [1_000, 0, 0, 50], cost: '100000' } as const;
  const bill = (amount: string, counts = [1, 1_000, 50, 0, 0], more = {}) => [
    `${USAGE}\n${usageRow('gpt-5-mini', counts, { at: 'AT', ...more })}`,
    `${COSTS}\nAT,0,${amount},usd,"gpt-5-mini, input",p`,
  ];

  test.each([
    ['nothing, within the tolerance', [one], bill('0.2019'), ['ok']],
    ['another price', [one], bill('0.25'), ['price']],
    [
      'a cost that its answers report',
      [{ ...one, reportedCostUsd: '0.25' }],
      bill('0.25'),
      ['catalog_cost'],
    ],
    ['a cost that the catalog lacks', [{ usage: one.usage }], bill('0.2'), ['catalog_cost']],
    [
      'cache writes that are not reported',
      [one],
      bill('0.25', [1, 1_000, 50, 0, 900]),
      ['cache_write'],
    ],
    ['calls of another program', [one], bill('0.4', [2, 2_000, 100, 0, 0]), ['missing']],
    ['a model that the books never called', [], bill('0.4'), ['missing']],
    ['a service tier', [one], bill('0.36', undefined, { tier: 'priority' }), ['price']],
    [
      'prompts above a tier',
      [{ usage: [300_000, 0, 0, 50], cost: '100000' } as const],
      bill('0.4', [1, 300_000, 50, 0, 0]),
      ['tier'],
    ],
    [
      'our own count of a call that its client left',
      [{ ...one, basis: 'estimated', outcome: 'client_cancelled' } as const],
      bill('0.25', [1, 1_000, 80, 0, 0]),
      ['estimated'],
    ],
    [
      'a failed call',
      [one, { failure: 'timeout' }],
      bill('0.4', [2, 2_000, 50, 0, 0]),
      ['estimated'],
    ],
    ['other tokens', [one], bill('0.4', [1, 3_000, 50, 0, 0]), ['counts']],
  ] as const)('%s', async (_, calls, text, expected) => {
    days += 1;
    expect(await causeOf(days, calls, text)).toEqual([...expected]);
  });
  let days = 0;

  test('a row that the export lacks, an item without tokens, and a call outside of the days', async () => {
    await call({ ...one, at: '2026-12-01T12:00:00Z' });
    await call({ ...one, at: '2026-12-03T12:00:00Z' });
    await call({ ...one, at: '2026-12-01T12:00:00Z', upstream: 'anthropic' });
    const at = Date.parse('2026-12-01') / 1_000;
    const rows = await found(
      [COSTS, costRow('web search tool calls', '3', at), costRow('other-1, input', '0', at)].join(
        '\n',
      ),
    );
    expect(rows).toEqual([
      ['2026-12-01', 'web search tool calls', '', 3_000_000, 'missing'],
      ['2026-12-01', 'gpt-5-mini', '', -200_000, 'missing'],
      ['2026-12-01', 'other-1', '', 0, 'ok'],
    ]);
  });
});

describe('keys', () => {
  const at = String(Date.parse('2026-08-01') / 1_000);
  const text = [
    USAGE,
    usageRow('gpt-5-mini', [1, 100, 10, 0, 0], { at, key: 'key_a' }),
    usageRow('gpt-5-mini', [1, 300, 30, 0, 0], { at, key: 'key_b' }),
    usageRow('gpt-5-mini', [1, 700, 70, 0, 0], { at, key: 'laptop' }),
  ].join('\n');
  beforeAll(async () => {
    await call({ usage: [100, 0, 0, 10], cost: '1', at: '2026-08-01T00:00:00Z' });
    await call({ usage: [200, 0, 0, 20], cost: '1', at: '2026-08-01T00:00:00Z', credential: '2' });
  });

  test('are compared one by one where they are mapped; an unmapped one is not ours', async () => {
    const keys = new Map([
      ['key_a', '1'],
      ['key_b', '2'],
    ]);
    expect(await found(text, { keys, upstreams: ['openai'] })).toEqual([
      ['2026-08-01', 'gpt-5-mini', '1', null, 'ok'],
      ['2026-08-01', 'gpt-5-mini', '2', null, 'counts'],
      ['2026-08-01', 'gpt-5-mini', 'laptop', null, 'missing'],
    ]);
  });

  test('need an export that names them', async () => {
    const costs = [COSTS, costRow('gpt-5-mini, input', '1')].join('\n');
    expect(
      await refusal(costs, { keys: new Map([['key_a', '1']]), upstreams: ['openai'] }),
    ).toContain('bill.csv, line 2: it names no key for --key');
  });
});

describe('reads', () => {
  const tokens = { input: 160, cached_input: 20, cache_write: 40, output: 9 };

  test.each([
    [
      'the usage API of OpenAI',
      JSON.stringify({
        ...{ object: 'page', has_more: true },
        data: [
          {
            ...{ object: 'bucket', start_time: SECONDS, end_time: SECONDS + 86_400 },
            results: [
              {
                ...{ input_tokens: 160, input_cached_tokens: 20, input_cache_write_tokens: 40 },
                ...{ output_tokens: 9, num_model_requests: 3, model: 'm-1', api_key_id: null },
              },
            ],
          },
        ],
      }),
      { requests: 3, ...tokens },
    ],
    [
      'the costs API of OpenAI, with the digits of its numbers',
      `{"data":[{"start_time":${SECONDS},"results":[{"amount":{"value":0.123456789012345678,"currency":"usd"},"line_item":"priority | m-1, output, long context"}]}]}`,
      { usd: '0.123456789012345678' },
    ],
    [
      'the usage report of Anthropic',
      JSON.stringify({
        data: [
          {
            ...{ starting_at: `${DAY}T00:00:00Z`, ending_at: '2026-10-03T00:00:00Z' },
            results: [
              {
                ...{ uncached_input_tokens: 100, cache_read_input_tokens: 20, output_tokens: 9 },
                cache_creation: { ephemeral_1h_input_tokens: 30, ephemeral_5m_input_tokens: 10 },
                ...{ model: 'm-1', service_tier: 'standard', context_window: '0-200k' },
              },
            ],
          },
        ],
      }),
      tokens,
    ],
    [
      'the cost report of Anthropic, in cents',
      `{"data":[{"starting_at":"${DAY}T00:00:00Z","results":[{"currency":"USD","amount":"123.78912","model":"m-1","service_tier":"batch","context_window":"200k-1M","cost_type":"tokens"}]}]}`,
      { usd: '1.2378912' },
    ],
    [
      'the token file of Anthropic',
      `usage_date_utc,model_version,api_key,workspace,usage_type,context_window,usage_input_tokens_no_cache,usage_input_tokens_cache_write_5m,usage_input_tokens_cache_write_1h,usage_input_tokens_cache_read,usage_output_tokens,web_search_count\n${DAY},m-1,"a ""key"", of\nAnn",Default,standard,≤ 200k,100,40,0,20,9,0`,
      tokens,
    ],
    [
      'the cost file of Anthropic',
      `\uFEFFusage_date_utc,model,workspace,api_key,usage_type,context_window,token_type,cost_usd,cost_type\n${DAY},M 1,Default,k,message,≤ 200k,output,0.02,token\n`,
      { usd: '0.02' },
    ],
    [
      'the activity of OpenRouter',
      `{"data":[{"date":"${DAY}","model":"m-1","usage":0.015,"byok_usage_inference":0.012,"requests":5,"prompt_tokens":50,"completion_tokens":125}]}`,
      { requests: 5, usd: '0.015', input: 50, output: 125 },
    ],
    [
      'the activity file of OpenRouter',
      `Date,Slug,Usage,BYOK Usage,Requests,Prompt Tokens,Completion Tokens\n"${DAY} 00:00:00","m-1","430.07","0","4115","7","3"`,
      { requests: 4_115, usd: '430.07', input: 7, output: 3 },
    ],
  ] as const)('%s', async (_, text, expected) => {
    const { rows } = await run(text, { upstreams: ['anthropic'] });
    const row = rows.find(({ model }) => modelKey(model) === 'm 1');
    expect([row?.day, row?.vendor]).toEqual([DAY, { rows: 1, ...expected }]);
  });

  test('a list of pages', async () => {
    const page = (item: string) =>
      `{"has_more":true,"data":[{"start_time":${SECONDS},"results":[]},{"start_time":${SECONDS},"results":[{"amount":{"value":1,"currency":"usd"},"line_item":"${item}, input"}]}]}`;
    const { rows } = await run(`[${page('m-1')},${page('m-2')}]`, { upstreams: ['anthropic'] });
    expect(rows.map(({ model, vendor }) => [model, vendor?.usd])).toEqual([
      ['m-1', '1'],
      ['m-2', '1'],
    ]);
  });

  test('an export that is not grouped by model against all calls of a day', async () => {
    const text = `{"data":[{"start_time":${SECONDS},"results":[{"amount":{"value":1,"currency":"usd"},"line_item":null}]}]}`;
    expect(await found(text)).toEqual([[DAY, '', '', expect.any(Number), expect.any(String)]]);
  });

  test('only the days of the span', async () => {
    const span = utcDay(Date.parse('2026-10-03'));
    const text = [COSTS, costRow('m, input', '1'), costRow('m, input', '2', SECONDS + 86_400)];
    expect((await run(text.join('\n'), { span })).totals).toEqual({
      ...{ vendor: '2', books: '0', difference: '2' },
    });
    expect(await refusal(text.slice(0, 2).join('\n'), { span })).toContain('no row in this period');
  });
});

describe('rejects', () => {
  const noAmount = 'it lacks a column among amount_value, cost_usd';
  test.each([
    ['an empty file', ' \n', 'it has no row in this period'],
    ['a header alone', `${COSTS}\n`, 'it has no row in this period'],
    ['an answer without data', '{"data":[]}', 'it has no row in this period'],
    ['columns without amounts', 'usage_date_utc,model,token_type\n1,2,3', noAmount],
    ['columns without a day', 'model,cost_usd\n1,2', 'line 2: it lacks a column among start_time'],
    ['broken JSON', '{"data":', 'it is neither CSV nor an object of JSON'],
    [
      'a row with too few cells',
      `${COSTS}\n1,2`,
      'bill.csv, line 2: it has 2 cells, and the header 6',
    ],
    ['an amount that is none', `${COSTS}\n\n${costRow('m, input', '1,5')}`, 'bill.csv, line 3'],
    ['a count that is none', `${USAGE}\n${usageRow('m', [1, -5, 1, 0, 0])}`, 'not "-5"'],
    [
      'a time that is none',
      `${COSTS}\n2026-13-01,0,1,usd,"m, input",p`,
      'start_time must be a day',
    ],
    [
      'another currency',
      `${COSTS}\n${SECONDS},0,1,eur,"m, input",p`,
      'amount_currency must be usd',
    ],
    [
      'a quote that is never closed',
      `${COSTS}\n${SECONDS},0,1,usd,"m`,
      'line 2: a quote is never closed',
    ],
  ])('%s', async (_, text, message) => {
    expect(await refusal(text)).toContain(message);
  });

  test('a file that is missing', async () => {
    const files = [{ path: join(directory, 'none'), name: 'none' }];
    expect(await refusal('', { files })).toContain('none cannot be read');
  });
});

describe('requests that are archived', () => {
  const month = (name: string) => utcMonth(Date.parse(`${name}-15`));
  let past: OpenBooks;
  beforeAll(async () => {
    past = await openBooks(join(directory, 'past'));
    await addAccount(past, 'acct_ada');
    const settle: PastEvent = { account: 0, what: 'settle', afterHours: 0 };
    await live(past, [{ ...settle, what: 'credit' }, settle], Date.parse('2026-10-31T20:00:00Z'));
    await archiveAll(past, join(directory, 'archive'), Date.parse('2026-12-20'));
  });
  afterAll(() => closeBooks(past));
  const at = (name: string) =>
    file([COSTS, costRow('m, input', '0', Date.parse(`${name}-01`) / 1_000)].join('\n'));

  test('reject their month, and not the next one', async () => {
    const rest = { upstreams: ['openai'], keys: new Map(), tolerance: 0n };
    const of = async (name: string) =>
      reconcile(past.database, { ...rest, files: [await at(name)], span: month(name) });
    expect((await rejectionOf(OperationError, () => of('2026-10')))?.code).toBe(
      'requests_archived',
    );
    expect((await of('2026-11')).rows).toHaveLength(1);
  });
});

test('a call counts on the day on which it began, not its request', async () => {
  const calls = [{ usage: [1, 0, 0, 1], cost: '500000', at: '2026-07-10T00:00:01Z' }] as const;
  await call({ ...calls[0], startedAt: '2026-07-09T23:59:59Z' });
  const bill = costRow('gpt-5-mini, input', '1', Date.parse('2026-07-10') / 1_000);
  expect(await found([COSTS, bill].join('\n'))).toEqual([
    ['2026-07-10', 'gpt-5-mini', '', 0, 'ok'],
  ]);
});

test('requests that were settled after a crash are counted', async () => {
  const at = Date.parse('2026-06-10T10:00:00Z');
  await open.ledger.hold({ ...holdOf('crashed', 'ann', 15n), nowMs: at });
  const served = { model: 'swift', upstream: 'openai', price: PRICE };
  await open.ledger.checkpoint({
    ...{ requestId: 'crashed', served, outputTokens: 3, reasoningTokens: 0, nowMs: at + 1 },
  });
  await open.ledger.recover({
    ...{ live: [], createdBefore: at + 2, phase: 'ended', nowMs: at + 3 },
    usdPerMillion: usdRate(1_000_000n),
  });
  const bill = costRow('gpt-5-mini, input', '0', Date.parse('2026-06-10') / 1_000);
  expect((await run([COSTS, bill].join('\n'))).crashed_requests).toBe(1);
});

test('one model has many names, and different versions are different models', () => {
  const same = ['Claude Sonnet 4.5', 'claude-sonnet-4-5-20250929', 'claude-4.5-sonnet:beta'];
  expect(new Set(same.map(modelKey)).size).toBe(1);
  const others = ['gpt-4.5', 'gpt-5.4', 'gpt-5.4-mini', 'gpt-4o', 'o4-mini', 'gpt-4-0613', 'gpt-4'];
  expect(new Set(others.map(modelKey)).size).toBe(others.length);
});
