// Who leaves pays for what was made until then, from outside: at upstreams that stop when their
// connection is closed, whether or not their models show what they think. Input costs 1, cached
// input 0.1 and output 2 service tokens.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { type Behaviour, streamHead } from '../support/behaviours.ts';
import { catalogOf, LARGE_PLAN, UPSTREAM_KEY } from '../support/catalog.ts';
import { type Format, generate, get, PATHS, post, requestBody } from '../support/client.ts';
import { temporaryDirectory } from '../support/database.ts';
import { explain } from '../support/explain.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { streamFrames } from '../support/render.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(60_000);

const folder = temporaryDirectory();
const CREDIT = 1_000_000;
const PACE = 100;
const WORDS = 2_000;
const KINDS = [
  ['chat', false],
  ['chat', true],
  ['messages', false],
  ['messages', true],
] as const;

/** How many words the last answer had when its connection was closed. */
let written = 0;

const talks: Behaviour = async (exchange) => {
  const { dialect, model } = exchange.request;
  const pieces = Array.from({ length: WORDS }, () => ({ text: ' a' }));
  streamHead(exchange);
  written = 0;
  for (const frame of streamFrames(dialect, model, { pieces, finish: 'stop' })) {
    if (exchange.gone()) return;
    exchange.write(frame);
    if (frame.includes(' a')) written += 1;
    await exchange.sleep(5);
  }
  exchange.end();
};

/** When the last one began to think. */
let thinkingSince = Number.POSITIVE_INFINITY;

/** Begins an answer and thinks without showing it, with comments while it does. */
const thinks: Behaviour = async (exchange) => {
  const { dialect, model, stream } = exchange.request;
  thinkingSince = performance.now();
  if (!stream) return exchange.untilGone();
  const pieces = [{ text: ' a' }];
  streamHead(exchange);
  exchange.write(streamFrames(dialect, model, { pieces, finish: 'stop' })[0] ?? '');
  while (!exchange.gone()) {
    exchange.write(': thinking\n\n');
    await exchange.sleep(20);
  }
};

/** Sends comments alone, as some proxies do before anything has begun. */
const waits: Behaviour = async (exchange) => {
  streamHead(exchange);
  while (!exchange.gone()) {
    exchange.write(': waiting\n\n');
    await exchange.sleep(20);
  }
};

/** A Messages answer whose start reports a prompt that was mostly cached; it never ends. */
const cached =
  (breaks: boolean): Behaviour =>
  async (exchange) => {
    const usage = { input_tokens: 10, cache_read_input_tokens: 5_000, output_tokens: 1 };
    const events = [
      { type: 'message_start', message: { role: 'assistant', content: [], usage } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: ' a a a' } },
    ];
    streamHead(exchange);
    for (const event of events) {
      exchange.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    }
    if (breaks) return exchange.cut();
    await exchange.untilGone();
  };

/** Reports 5,010 tokens of any prompt. */
const absurd: Behaviour = (exchange) => {
  const { dialect, model } = exchange.request;
  const usage = { prompt: 5_010, cached: 0, completion: 1 };
  streamHead(exchange);
  const script = { pieces: [{ text: 'a' }], finish: 'stop', usage } as const;
  for (const frame of streamFrames(dialect, model, script)) exchange.write(frame);
  exchange.end();
};

let crowd = Promise.withResolvers<void>();
const crowded: Behaviour = async (exchange) => {
  await crowd.promise;
  const { dialect, model } = exchange.request;
  const script = { pieces: [{ text: 'a' }], finish: 'stop' } as const;
  streamHead(exchange);
  for (const frame of streamFrames(dialect, model, script)) exchange.write(frame);
  exchange.end();
};

let upstream: Upstream;
let gateway: Gateway;

beforeAll(async () => {
  const behaviours = { talks, thinks, waits, absurd, crowded, cached: cached(false) };
  upstream = await startUpstream({ ...behaviours, breaks: cached(true) });
  const chat = { dialect: 'chat', base_url: upstream.baseUrl, api_key: UPSTREAM_KEY };
  const messages = { ...chat, dialect: 'messages', base_url: upstream.messagesBaseUrl };
  const upstreams = [
    { id: 'openai', ...chat, profile: 'openai' },
    { id: 'second', ...chat, profile: 'openai' },
    { id: 'third', ...chat, profile: 'openai' },
    { id: 'impatient', ...chat, profile: 'openai', first_content_seconds: 1 },
    { id: 'patient', ...chat, profile: 'openai', first_content_seconds: 1 },
    { id: 'last', ...chat, profile: 'openai', first_content_seconds: 1 },
    { id: 'anthropic', ...messages, profile: 'anthropic-4.5' },
  ].map((fields) => ({ ...fields, cool_down_seconds: 0 }));
  const on = (slug: string, ids: readonly string[], model = slug) => ({
    slug,
    tokens_per_second: PACE,
    max_output: 20_000,
    served_by: ids.map((id) => ({ upstream: id, model })),
  });
  const silent = ['impatient', 'patient', 'last'];
  gateway = await startGateway({
    catalog: catalogOf({
      upstreams,
      models: [
        ...['thinks', 'absurd', 'crowded'].map((slug) => on(slug, ['openai'])),
        // Its first wait is that of a busy machine, and makes nothing.
        { ...on('talks', ['openai']), tokens_per_second: 1 },
        ...['cached', 'breaks'].map((slug) => on(slug, ['anthropic'])),
        on('silent', silent, 'thinks'),
        on('queued', silent, 'waits'),
      ],
      plans: { roomy: LARGE_PLAN },
    }),
  });
});

closeAtEnd(() => [upstream, gateway]);

const account = (credit = CREDIT): Promise<TestAccount> =>
  gateway.createAccount({ plan: 'roomy', credit });

async function balanceOf(of: TestAccount): Promise<Readonly<Record<string, string>>> {
  return (await get(of, '/v1/account')).json['balance'] as Readonly<Record<string, string>>;
}

/** What an account has paid, once nothing of it is reserved and no slot is taken. */
async function paidBy(of: TestAccount, credit = CREDIT): Promise<number> {
  await waitUntil(async () => {
    const { balance, usage } = (await get(of, '/v1/account')).json as {
      readonly balance: { readonly reserved: string };
      readonly usage: { readonly in_flight: number };
    };
    return balance.reserved === '0' && usage.in_flight === 0;
  });
  return credit - Number((await balanceOf(of))['available']);
}

/** A response without a reference is collected, and its connection closed with it. */
const opened: Response[] = [];

/** Sends a request, and leaves when `isTime`. */
async function leave(
  of: TestAccount,
  format: Format,
  body: Readonly<Record<string, unknown>>,
  isTime: () => Promise<boolean> | boolean,
): Promise<void> {
  const { model, ...more } = body as { readonly model: string };
  const abort = new AbortController();
  const sent = requestBody(format, model, more);
  post(of, PATHS[format], sent, { signal: abort.signal })
    .then((response) => opened.push(response))
    .catch(() => {});
  await waitUntil(async () => (await balanceOf(of))['reserved'] !== '0');
  await waitUntil(isTime);
  abort.abort();
}

describe.each(KINDS)('%s, streamed: %p', (format, stream) => {
  test('an answer that shows what it makes costs what was read of it', async () => {
    const payer = await account();
    written = 0;
    await leave(payer, format, { model: 'talks', stream, max_tokens: 8_000 }, () => written >= 100);
    const paid = await paidBy(payer);
    // The upstream is closed long before its answer is over.
    await upstream.waitFor(({ active }) => active() === 0);
    expect(written).toBeLessThan(WORDS / 2);
    // What it wrote, its last writes included, and a prompt of some tokens.
    expect(paid).toBeLessThan(2.5 * written + 20);
    expect(paid).toBeGreaterThan(2 * 15);
  });

  test('thinking that no client sees costs its time at the pace of the model', async () => {
    const payer = await account();
    const begunAt = performance.now();
    const elapsed = (): number => (performance.now() - begunAt) / 1_000;
    thinkingSince = Number.POSITIVE_INFINITY;
    const body = { model: 'thinks', stream, max_tokens: 4_000 };
    await leave(payer, format, body, () => performance.now() - thinkingSince > 1_000);
    const paid = await paidBy(payer);
    expect(paid).toBeGreaterThan(2 * 0.9 * PACE);
    expect(paid).toBeLessThan(2 * PACE * elapsed() + 20);
    await upstream.waitFor(({ active }) => active() === 0);
  });
});

describe.each(['cached', 'breaks'])('a prompt that a stream reported at its start, %s', (model) => {
  test('is charged as reported, also if the stream has no end', async () => {
    const payer = await account();
    const text = ' word'.repeat(5_000);
    const body = { model, stream: true, messages: [{ role: 'user', content: text }] };
    const abort = new AbortController();
    const sent = requestBody('messages', model, body);
    const response = await post(payer, PATHS.messages, sent, { signal: abort.signal });
    const id = response.headers.get('x-request-id');
    if (model === 'breaks') await response.text();
    abort.abort();
    // 10 at 1, 5,000 at 0.1, and three words; reading them on is no part of it.
    const paid = await paidBy(payer);
    expect(paid).toBeGreaterThanOrEqual(510);
    expect(paid).toBeLessThan(510 + 2 * 8 + 2 * PACE);
    const story = await explain(gateway, id);
    expect(story.usage).toMatchObject({ input_tokens: 5_010, cached_input_tokens: 5_000 });
  });
});

test('an estimate is named, and its numbers give the usage', async () => {
  const payer = await account();
  const abort = new AbortController();
  const sent = requestBody('chat', 'thinks', { stream: true, max_tokens: 4_000 });
  thinkingSince = Number.POSITIVE_INFINITY;
  post(payer, PATHS.chat, sent, { signal: abort.signal })
    .then((response) => opened.push(response))
    .catch(() => {});
  await waitUntil(() => performance.now() - thinkingSince > 600);
  abort.abort();
  await paidBy(payer);
  const [receipt] = await receiptsOf(payer);
  const usage = receipt?.['usage'] as Readonly<Record<string, unknown>>;
  const estimate = usage['estimate'] as Readonly<Record<string, number>>;
  const {
    seen_output_tokens: seen = 0,
    unseen_ms: ms = 0,
    output_tokens_per_second: pace,
  } = estimate;
  expect(pace).toBe(PACE);
  expect(usage['output_tokens']).toBe(seen + Math.floor((ms * PACE) / 1_000));
  expect(usage['basis']).toBe('estimated');
  const story = await explain(gateway, String(receipt?.['id']));
  expect(story.usage).toMatchObject({ basis: 'estimated', estimate });
});

describe('a timer that ends silence', () => {
  test('after an answer began costs the time of at most two attempts', async () => {
    const payer = await account();
    const before = upstream.requests.length;
    const { status, headers } = await generate(payer, 'chat', 'silent', {
      ...{ stream: true, max_tokens: 4_000 },
    }).catch(() => ({ status: 0, headers: new Headers() }));
    expect(status).not.toBe(200);
    expect(upstream.requests.length - before).toBe(2);
    const paid = await paidBy(payer);
    // Two attempts of a second each.
    expect(paid).toBeGreaterThan(2 * 1.6 * PACE);
    expect(paid).toBeLessThan(2 * 3 * PACE);
    const story = await explain(gateway, headers.get('x-request-id'));
    expect(story.usage).toMatchObject({ basis: 'estimated' });
  });

  test('before anything began costs nothing', async () => {
    const payer = await account();
    await generate(payer, 'chat', 'queued', { stream: true, max_tokens: 4_000 }).catch(() => {});
    expect(await paidBy(payer)).toBe(0);
  });
});

test('a report of 5,010 for one word is charged at its bound, and is an alert', async () => {
  const payer = await account();
  for (const _ of [1, 2]) {
    await generate(payer, 'chat', 'absurd', { messages: [{ role: 'user', content: 'hi' }] });
  }
  expect(await paidBy(payer)).toBeLessThan(2 * 1_020);
  await waitUntil(() => gateway.output().includes('absurd'));
});

test('ten requests that a balance can pay are ten answers', async () => {
  crowd = Promise.withResolvers();
  const more = { max_tokens: 16, messages: [{ role: 'user', content: 'hi' }] };
  // 8 of prompt and 16 of output.
  const payer = await account(10 * 40);
  const answers = Array.from({ length: 60 }, () => generate(payer, 'chat', 'crowded', more));
  await waitUntil(async () => (await balanceOf(payer))['available'] === '0');
  crowd.resolve();
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(10);
});

/** Exports them, and proves the file without the server. */
async function receiptsOf(of: TestAccount): Promise<Readonly<Record<string, unknown>>[]> {
  const file = join(folder, `${of.id}.jsonl`);
  await gateway.run('receipts', 'export', '--account', of.id, '--out', file);
  await gateway.run('receipts', 'verify', file);
  const lines = (await Bun.file(file).text()).trim().split('\n');
  return lines.map((line) => JSON.parse(line)).filter(({ kind }) => kind === 'request');
}
