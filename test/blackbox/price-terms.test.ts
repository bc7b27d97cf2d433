// A price with tiers, cache lifetimes and service tiers, through the whole program: an answer of a
// long prompt with writes of 12 hours and a priority tier is charged to the last digit, explained,
// and proven by its receipt without the server.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { type Behaviour, HELLO, sendText, sendWhole } from '../support/behaviours.ts';
import { catalogOf } from '../support/catalog.ts';
import { type Format, generate, generateStream, openStream, promptOf } from '../support/client.ts';
import { temporaryDirectory } from '../support/database.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

setDefaultTimeout(60_000);

const USAGE = {
  ...{ prompt_tokens: 300_000, completion_tokens: 12_345, total_tokens: 312_345 },
  prompt_tokens_details: {
    ...{ cached_tokens: 100_001, cache_write_tokens: 150_003 },
    cache_write_tokens_details: { ttl_30m_tokens: 99_996, ttl_12h_tokens: 50_007 },
  },
  cost: 1.3051952,
};

/** An answer of OpenAI's form in the given service tier, which the model's name ends with. */
const tiered: Behaviour = (exchange) => {
  const { model, stream } = exchange.request;
  const service_tier = model.replace(/^in-/, '');
  const usage = USAGE;
  if (!stream) {
    const message = { role: 'assistant', content: HELLO };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    return sendWhole(exchange, 200, JSON.stringify({ choices, usage, service_tier }));
  }
  const chunks = [
    { choices: [{ index: 0, delta: { role: 'assistant', content: HELLO } }], service_tier },
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], service_tier },
    { choices: [], usage, service_tier },
  ];
  const frames = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
  sendText(exchange, `${frames.join('')}data: [DONE]\n\n`);
};

/** Begins an answer of the priority tier, and never ends it. */
const left: Behaviour = async (exchange) => {
  exchange.head(200, { 'content-type': 'text/event-stream' });
  const delta = { role: 'assistant', content: HELLO };
  const chunk = { choices: [{ index: 0, delta }], service_tier: 'priority' };
  exchange.write(`data: ${JSON.stringify(chunk)}\n\n`);
  await exchange.untilGone();
};

const RATES = { input: '2', cached_input: '0.1', cache_write: '2.5', cache_write_1h: '4' };
const TIER = { input: '4', cached_input: '0.2', cache_write: '5', cache_write_1h: '8' };
const PRICE = {
  ...{ ...RATES, output: '10' },
  tiers: [{ above_tokens: 272_000, ...TIER, output: '15' }],
  service_tiers: { flex: '0.5', priority: '2' },
};

/** 49,996 × 4 + 100,001 × 0.2 + 99,996 × 5 + 50,007 × 8 + 12,345 × 15. */
const CHARGES = {
  priority: '2610390.4',
  flex: '652597.6',
  default: '1305195.2',
  scale: '1305195.2',
};
const WORDS = Object.keys(CHARGES) as (keyof typeof CHARGES)[];

const ROOMY = {
  ...{ requests_per_minute: 1_000, tokens_per_minute: 100_000_000, concurrent_requests: 8 },
  ...{ max_context: 1_000_000, max_api_keys: 2 },
};

let upstream: Upstream;
let gateway: Gateway;
let customer: TestAccount;
const folder = temporaryDirectory();

beforeAll(async () => {
  upstream = await startUpstream({
    left,
    ...Object.fromEntries(WORDS.map((word) => [`in-${word}`, tiered])),
  });
  gateway = await startGateway({ catalog: catalogText() });
  customer = await gateway.createAccount({ plan: 'roomy', credit: 100_000_000 });
});

function catalogText(): string {
  return catalogOf({
    upstreams: [{ id: 'up', dialect: 'chat', base_url: upstream.baseUrl }],
    models: [...WORDS.map((word) => `in-${word}`), 'left'].map((slug) => ({
      ...{ slug, features: ['tools'], context_window: 1_000_000, max_output: 20_000, price: PRICE },
      served_by: [{ upstream: 'up', model: slug, cost: { ...RATES, output: '10' } }],
    })),
    plans: { roomy: ROOMY },
  });
}

closeAtEnd(() => [upstream, gateway]);

async function ask(format: Format, stream: boolean, word: string): Promise<string> {
  const more = { ...promptOf(190_000), max_tokens: 16_000 };
  const model = `in-${word}`;
  const { headers } = stream
    ? await generateStream(customer, format, model, more)
    : await generate(customer, format, model, more);
  return headers.get('x-request-id') ?? '';
}

type Explained = {
  readonly booked: { readonly charged: string } | null;
  readonly usage: Readonly<Record<string, unknown>>;
  readonly attempts: readonly Readonly<Record<string, unknown>>[];
  readonly calculations: readonly Readonly<Record<string, unknown>>[];
};

async function explained(requestId: string): Promise<Explained> {
  return (await gateway.run('explain', requestId)) as unknown as Explained;
}

describe.each(WORDS)('an answer in the tier %s', (word) => {
  test.each([
    ['chat', false],
    ['chat', true],
    ['messages', false],
    ['messages', true],
  ] as const)('over %s, streamed: %p, is charged to the last digit', async (format, stream) => {
    const facts = await explained(await ask(format, stream, word));
    const isPriced = word === 'priority' || word === 'flex';
    expect(facts.booked?.charged).toBe(CHARGES[word]);
    expect(facts.usage).toMatchObject({
      ...{ input_tokens: 300_000, cache_write_tokens: 150_003, cache_write_long_tokens: 50_007 },
      ...(isPriced && { service_tier: word }),
      doubt: word === 'scale' ? 'service_tier' : null,
    });
    expect(facts.calculations).toEqual([
      expect.objectContaining({ tier_above_tokens: 272_000, rounded: CHARGES[word] }),
    ]);
    expect(facts.attempts.at(-1)?.['reported_cost_usd']).toBe('1.3051952');
  });
});

test('an answer that is left before its report has the tier that it named', async () => {
  const leaving = new AbortController();
  const { body, headers } = await openStream(customer, 'chat', 'left', {}, leaving.signal);
  await body?.getReader().read();
  leaving.abort();
  const id = headers.get('x-request-id') ?? '';
  let facts = await explained(id);
  while (facts.booked === null) {
    await Bun.sleep(50);
    facts = await explained(id);
  }
  expect(facts.usage).toMatchObject({ basis: 'estimated', service_tier: 'priority', doubt: null });
});

test('a preview of the same prices computes what was booked, and half of it at half the price', async () => {
  const file = join(folder, 'catalog.toml');
  const preview = async (text: string) => {
    await Bun.write(file, text);
    const span = ['--from', '2026-01-01', '--to', '2126-01-01'];
    return gateway.run('prices', 'preview', '--catalog', file, ...span);
  };
  const text = catalogText();
  expect(await preview(text)).toMatchObject({ totals: { requests: 17, difference: '0' } });
  const half = text.replaceAll('priority = "2"', 'priority = "1"');
  // Four answers of the priority tier.
  expect((await preview(half))['models']).toContainEqual(
    expect.objectContaining({ model: 'in-priority', difference: '-5220780.8' }),
  );
});

test('its receipts are proven without the server, and the books agree', async () => {
  const file = join(folder, 'receipts.jsonl');
  await gateway.run('receipts', 'export', '--account', customer.id, '--out', file);
  const text = await Bun.file(file).text();
  expect(text).toContain('"service_tier":"priority"');
  expect(text).toContain('{"version":2,');
  expect(JSON.stringify(await gateway.run('receipts', 'verify', file))).toContain('"ok":true');
  const forged = join(folder, 'forged.jsonl');
  await Bun.write(forged, text.replace('"service_tier":"priority"', '"service_tier":"flex"'));
  await expect(gateway.run('receipts', 'verify', forged)).rejects.toThrow();
  await gateway.run('doctor');
});
