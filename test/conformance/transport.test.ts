// Routing, keys, headers and bodies as published clients send them, over the executable and real
// sockets: a failure here happens before any codec sees a byte.

import { beforeAll, expect, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { HELLO } from '../support/behaviours.ts';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import {
  EVERY_FORMAT,
  generate,
  generateStream,
  get,
  openStream,
  PATHS,
  post,
  requestBody,
} from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { openConnection, wholeRequest } from '../support/raw.ts';
import { expectRefusal } from '../support/refusal.ts';
import { readEvents } from '../support/sse.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

let upstream: Upstream;
let gateway: Gateway;
let account: TestAccount;

beforeAll(async () => {
  upstream = await startUpstream();
  const models = ['ok', 'tool', 'cut', 'slow-tokens-500-10'];
  gateway = await startGateway({
    catalog: catalogFor(upstream, models, { plans: { large: LARGE_PLAN } }),
  });
  account = await gateway.createAccount({ plan: 'large' });
});

closeAtEnd(() => [upstream, gateway]);

/** Posts with exactly these headers. */
async function send(
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string>,
) {
  const response = await fetch(gateway.url + path, { method: 'POST', headers, body });
  return {
    status: response.status,
    headers: response.headers,
    json: (await response.json()) as Record<string, unknown>,
  };
}

const JSON_TYPE = { 'content-type': 'application/json' };
const bearer = (key = account.key) => ({ ...JSON_TYPE, authorization: `Bearer ${key}` });
const messagesBody = JSON.stringify(requestBody('messages', 'ok'));

/** What two answers to the same request have in common: everything but ids, times and balances. */
function lasting(text: string): string {
  return text
    .replace(/(msg_|chatcmpl-|req_)\w+/g, '$1')
    .replace(/"created":\d+/g, '')
    .replace(/"svc_balance_tokens":"[^"]*"/g, '');
}

test('case 1: HEAD / without a key answers at once, and the connection stays usable', async () => {
  using connection = await openConnection(gateway.url);
  await connection.write('HEAD / HTTP/1.1\r\nhost: gateway.test\r\n\r\n');
  const head = await connection.answer('HEAD');
  expect(head?.status).toBe(200);
  await connection.write(wholeRequest(account, '/v1/messages', messagesBody));
  expect((await connection.answer())?.status).toBe(200);
});

const VERSIONS: readonly Readonly<Record<string, string>>[] = [
  {},
  ...['2023-01-01', '2026-10-21', encodeURI('garbage; é'), ''].map((version) => ({
    'anthropic-version': version,
  })),
  { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'a-1,b-2', 'partner-version': 'x' },
];

test.each([false, true])(
  'cases 2 and 9: a query on the path of messages and any version change no byte, streamed: %p',
  async (stream) => {
    const exchanges = new Set<string>();
    for (const path of ['/v1/messages', '/v1/messages?beta=true']) {
      for (const headers of VERSIONS) {
        const body = { ...JSON.parse(messagesBody), stream };
        const response = await post(account, path, body, { headers });
        const text = lasting(await response.text());
        exchanges.add(`${response.status} ${upstream.requests.at(-1)?.text} ${text}`);
      }
    }
    expect([...exchanges]).toEqual([expect.stringMatching(/^200 \{"model":/)]);
  },
);

test('case 3: a query on the path of count_tokens changes nothing', async () => {
  const counts = await Promise.all(
    ['/v1/messages/count_tokens', '/v1/messages/count_tokens?beta=true'].map((path) =>
      send(path, messagesBody, bearer()),
    ),
  );
  expect(counts.map(({ status, json }) => ({ status, json }))).toEqual(
    counts.map(() => ({ status: 200, json: { input_tokens: expect.any(Number) } })),
  );
});

test('case 4: a Messages call with a bearer key and the newest version', async () => {
  const version = { 'anthropic-version': '2026-10-21' };
  expect((await send('/v1/messages', messagesBody, { ...bearer(), ...version })).status).toBe(200);
});

test('case 10: beta features that are unknown are ignored', async () => {
  const names = Array.from({ length: 10 }, (_, index) => `feature-${index}-2026-01-01`);
  const headers = { 'anthropic-beta': names.join(',') };
  expect((await post(account, '/v1/messages', messagesBody, { headers })).status).toBe(200);
});

test.each(EVERY_FORMAT)(
  'case 11: one request id in both headers and in the error, %s',
  async (format) => {
    const answers = [
      await generate(account, format, 'ok'),
      await generate(account, format, 'unknown'),
      await generate(account, format, 'ok', { messages: 1 }),
      await generateStream(account, format, 'ok'),
      await generateStream(account, format, 'cut'),
      await send(PATHS[format], '{}', JSON_TYPE),
    ];
    for (const answer of answers) {
      const id = answer.headers.get('x-request-id') ?? '';
      expect(id).toMatch(/^req_\w{20,}$/);
      expect(answer.headers.get('request-id')).toBe(id);
      const told = 'events' in answer ? answer.events.map((event) => event.json) : [answer.json];
      const errors = told.flatMap((json) => (json?.['error'] as { request_id: string }) ?? []);
      expect(errors.every((error) => error.request_id === id)).toBe(true);
    }
  },
);

test.each(EVERY_FORMAT)('case 12: a stream is never compressed or buffered, %s', async (format) => {
  const body = requestBody(format, 'ok', { stream: true });
  const response = await post(account, PATHS[format], body, {
    headers: { 'accept-encoding': 'gzip, deflate, br, zstd' },
  });
  expect(await response.text()).toContain('Hello');
  const names = ['content-type', 'content-encoding', 'content-length', 'cache-control'];
  expect([...names, 'x-accel-buffering'].map((name) => [name, response.headers.get(name)])).toEqual(
    [
      ['content-type', 'text/event-stream; charset=utf-8'],
      ['content-encoding', null],
      ['content-length', null],
      ['cache-control', 'no-cache'],
      ['x-accel-buffering', 'no'],
    ],
  );
});

test.each(EVERY_FORMAT)('case 13: a whole answer is JSON by its type, %s', async (format) => {
  const { headers } = await generate(account, format, 'ok');
  expect(headers.get('content-type')).toBe('application/json');
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: account.key, maxRetries: 0 });
  const completion = await client.chat.completions.create({
    model: 'ok',
    messages: [{ role: 'user', content: 'Hello?' }],
  });
  expect(completion.choices[0]?.message.content).toBe(HELLO);
});

test.each(EVERY_FORMAT)(
  'case 14: the bill is in the headers of whole answers alone, %s',
  async (format) => {
    const [whole, stream] = await Promise.all([
      generate(account, format, 'ok'),
      generateStream(account, format, 'ok'),
    ]);
    const shared = ['x-svc-model', 'x-ratelimit-limit-requests', 'x-ratelimit-remaining-requests'];
    const limits = ['x-ratelimit-limit-tokens', 'x-ratelimit-remaining-tokens'];
    for (const name of [...shared, ...limits, 'x-ratelimit-reset-requests']) {
      expect([name, whole.headers.has(name), stream.headers.has(name)]).toEqual([name, true, true]);
    }
    for (const name of ['x-svc-tokens-debited', 'x-svc-balance']) {
      expect([name, whole.headers.has(name), stream.headers.has(name)]).toEqual([
        name,
        true,
        false,
      ]);
    }
  },
);

test('case 15: a base URL that ends in /v1 by mistake', async () => {
  const answer = await send('/v1/v1/messages', messagesBody, bearer());
  expectRefusal(answer, 'messages', 'not_found', { message: /\/v1\/v1\/messages/ });
});

test('case 16: both libraries list the models to the end', async () => {
  const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: account.key });
  const anthropic = new Anthropic({ baseURL: gateway.url, apiKey: account.key });
  const listed = await Array.fromAsync(openai.models.list(), (model) => model.id);
  expect(await Array.fromAsync(anthropic.models.list(), (model) => model.id)).toEqual(listed);
  const { json } = await get(account, '/v1/models');
  expect(json['has_more']).toBe(false);
  expect((json['data'] as readonly object[])[0]).toMatchObject({
    id: expect.any(String),
    object: 'model',
    type: 'model',
    created: expect.any(Number),
    created_at: expect.any(String),
    display_name: expect.any(String),
    owned_by: expect.any(String),
  });
});

test.each(EVERY_FORMAT)(
  'case 21: a stream that its client gives up disturbs no other stream, %s',
  async (format) => {
    const leave = new AbortController();
    const slow = await openStream(account, format, 'slow-tokens-500-10', {}, leave.signal);
    for await (const event of readEvents(slow)) {
      if (event.data.includes('delta')) break;
    }
    leave.abort();
    expect((await generate(account, format, 'ok')).status).toBe(200);
    // The same on one connection: what follows a stream is answered behind it.
    using connection = await openConnection(gateway.url);
    const streamed = JSON.stringify(requestBody(format, 'ok', { stream: true }));
    await connection.write(wholeRequest(account, PATHS[format], streamed));
    expect((await connection.answer())?.status).toBe(200);
    const whole = JSON.stringify(requestBody(format, 'ok'));
    await connection.write(wholeRequest(account, PATHS[format], whole));
    expect((await connection.answer())?.status).toBe(200);
  },
);
