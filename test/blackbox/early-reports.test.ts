// What a report costs that comes before the end of its answer, or far above its prompt, from outside.
// Input costs 1, cached input 0.1 and output 2 service tokens.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Behaviour, streamHead } from '../support/behaviours.ts';
import { catalogOf, LARGE_PLAN, UPSTREAM_KEY } from '../support/catalog.ts';
import { generate, get, PATHS, post, requestBody } from '../support/client.ts';
import { explain } from '../support/explain.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { streamFrames } from '../support/render.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(60_000);

const CREDIT = 1_000_000;
const PACE = 100;

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
  const behaviours = { absurd, crowded, cached: cached(false), breaks: cached(true) };
  upstream = await startUpstream(behaviours);
  const chat = { dialect: 'chat', base_url: upstream.baseUrl, api_key: UPSTREAM_KEY };
  const messages = { ...chat, dialect: 'messages', base_url: upstream.messagesBaseUrl };
  const upstreams = [
    { id: 'openai', ...chat, profile: 'openai' },
    { id: 'anthropic', ...messages, profile: 'anthropic-4.5' },
  ].map((fields) => ({ ...fields, cool_down_seconds: 0 }));
  const on = (slug: string, id: string) => ({
    slug,
    tokens_per_second: PACE,
    max_output: 20_000,
    served_by: [{ upstream: id, model: slug }],
  });
  gateway = await startGateway({
    catalog: catalogOf({
      upstreams,
      models: [
        ...['absurd', 'crowded'].map((slug) => on(slug, 'openai')),
        ...['cached', 'breaks'].map((slug) => on(slug, 'anthropic')),
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
