// Upstreams that send without end, through the whole gateway: text ends at the bound of its
// request, every other flood becomes an error of the format. The gateway closes the connection, and
// no customer pays more than the bound that they set.

import { beforeAll, expect, test } from 'bun:test';
import { type Behaviour, streamHead } from '../support/behaviours.ts';
import { type Books, openBooks } from '../support/books.ts';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import { EVERY_FORMAT, generate, openStream } from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { chatFrame } from '../support/render.ts';
import { readEvents, type SseEvent } from '../support/sse.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

/** What the client asks for at most; its charge is 2 service tokens each, and the prompt. */
const MAX_TOKENS = 100;
const CHARGE_MAX = 2 * MAX_TOKENS + 50;

/**
 * Above this an answer is read from the upstream as a stream also where the client wants it whole.
 */
const LONG = 5_000;

const KILOBYTES = 'x '.repeat(32_768);

/** Prompts whose client has seen content: without it a flood is a failure before content. */
const delivered = new Set<string>();

function forever(piece: (model: string, count: number) => string): Behaviour {
  return async (exchange) => {
    const { model, text } = exchange.request;
    streamHead(exchange);
    exchange.write(chatFrame(model, { role: 'assistant', content: 'Hello.' }));
    await waitUntil(
      () => exchange.gone() || [...delivered].some((prompt) => text.includes(prompt)),
    );
    for (let count = 0; !exchange.gone(); count += 1) {
      exchange.write(piece(model, count));
      await new Promise((wake) => setImmediate(wake));
    }
  };
}

function call(model: string, piece: Readonly<Record<string, unknown>>): string {
  return chatFrame(model, { tool_calls: [piece] });
}

const FLOODS: Readonly<Record<string, Behaviour>> = {
  'one-line': forever(() => KILOBYTES),
  'one-event': forever(() => `data: ${KILOBYTES}\n`),
  text: forever((model) => chatFrame(model, { content: KILOBYTES })),
  'tiny-deltas': forever((model) => chatFrame(model, { content: 'x' }).repeat(1_000)),
  'tool-calls': forever((model, index) =>
    call(model, { index, id: `call_${index}`, function: { name: 'f', arguments: '{}' } }),
  ),
  'unnamed-call': forever((model) =>
    call(model, { index: 0, id: 'call_1', function: { arguments: KILOBYTES } }),
  ),
  'parts-of-a-name': forever((model, count) =>
    call(model, { index: 0, function: { name: `${count}${KILOBYTES}` } }),
  ),
};

/** Their tokens are counted, also those of calls that are left out, and reach the bound. */
const ENDS_AT_BOUND: ReadonlySet<string> = new Set(['text', 'tiny-deltas', 'tool-calls']);

const ENDED_AT_BOUND = {
  request: { outcome: 'completed' },
  attempts: [{ failure: null }],
};

const CASES = EVERY_FORMAT.flatMap((format) =>
  Object.keys(FLOODS).map((model) => [format, model] as const),
);

let upstream: Upstream;
let gateway: Gateway;
let account: TestAccount;
let books: Books;

beforeAll(async () => {
  upstream = await startUpstream(FLOODS);
  gateway = await startGateway({
    catalog: catalogFor(upstream, Object.keys(FLOODS), { plans: { large: LARGE_PLAN } }),
  });
  account = await gateway.createAccount({ plan: 'large' });
  books = openBooks(gateway);
});

closeAtEnd(() => [upstream, gateway, books]);

test.each(CASES)('%s, streamed: %s', async (format, model) => {
  const prompt = crypto.randomUUID();
  const messages = [{ role: 'user', content: prompt }];
  const response = await openStream(account, format, model, { max_tokens: MAX_TOKENS, messages });
  const events: SseEvent[] = [];
  for await (const event of readEvents(response)) {
    events.push(event);
    if (event.data.includes('Hello.')) delivered.add(prompt);
  }
  const error = events.at(format === 'chat' ? -2 : -1)?.json?.['error'];
  const story = await books.story(response.headers.get('x-request-id'));
  if (ENDS_AT_BOUND.has(model)) {
    expect(error).toBeUndefined();
    expect(events.some(({ data }) => /"(length|max_tokens|max_output_tokens)"/.test(data))).toBe(
      true,
    );
    expect(story).toMatchObject({ ...ENDED_AT_BOUND, usage: { output_tokens: MAX_TOKENS } });
  } else {
    expect(error).toMatchObject({ code: 'provider_unavailable', svc_outcome: 'upstream_failed' });
    expect(story?.['attempts']).toMatchObject([{ failure: 'malformed' }]);
  }
  expect(Number(story?.booked?.['debited'])).toBeGreaterThan(0);
  expect(Number(story?.booked?.['debited'])).toBeLessThanOrEqual(CHARGE_MAX);
  expect(Number(story?.usage?.['output_tokens'])).toBeLessThanOrEqual(MAX_TOKENS);
});

test.each(CASES)('%s, whole: %s', async (format, model) => {
  const prompt = crypto.randomUUID();
  delivered.add(prompt);
  const messages = [{ role: 'user', content: prompt }];
  const answer = await generate(account, format, model, { max_tokens: LONG, messages });
  const story = await books.story(answer.headers.get('x-request-id'));
  if (ENDS_AT_BOUND.has(model)) {
    expect(answer.status).toBe(200);
    expect(story).toMatchObject({ ...ENDED_AT_BOUND, usage: { output_tokens: LONG } });
    return;
  }
  expect(answer.status).toBe(503);
  expect(story?.['attempts']).toMatchObject([{ failure: 'malformed' }]);
  expect(story?.booked).toMatchObject({ charged: '0', debited: '0' });
});

test('afterwards every upstream has been hung up on and nothing is held', async () => {
  await upstream.waitFor(({ active, connections }) => active() === 0 && connections() === 0);
  const { account: record } = await gateway.run('account', 'show', account.id);
  expect(record).toMatchObject({ balance: { reserved: '0' } });
});
