// The playground: the answers, refusals and bills of /v1 in all formats, with a session in place
// of a key. A session opens nothing on /v1, and a key nothing in the dashboard.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { catalogFor, ROOMY_PLAN } from '../../support/catalog.ts';
import {
  EVERY_FORMAT,
  type EveryFormat,
  generate,
  generateStream,
  type JsonAnswer,
  PATHS,
  post,
  requestBody,
} from '../../support/client.ts';
import { explain } from '../../support/explain.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../../support/gateway.ts';
import { parseMetrics, sumOf } from '../../support/metrics.ts';
import { type ApiSession, openApi } from '../../support/session.ts';
import { collectEvents, type SseEvent } from '../../support/sse.ts';
import { startUpstream, type Upstream, waitUntil } from '../../support/upstream.ts';

setDefaultTimeout(30_000);

const PLAYGROUND = {
  chat: '/playground/chat/completions',
  messages: '/playground/messages',
  responses: '/playground/responses',
} as const;
const PASSWORD = 'a password of a test';

let upstream: Upstream;
let gateway: Gateway;
let ada: Customer;
let bob: Customer;

type Customer = { readonly account: TestAccount; readonly session: ApiSession };

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    catalog: catalogFor(
      upstream,
      ['ok', 'reasoning-and-tool', 'slow-tokens-400-10', 'status-500'],
      {
        // It shows all thinking, so it is not read on for a visitor who has left.
        upstream: { profile: 'deepseek' },
        plans: { roomy: ROOMY_PLAN, narrow: { ...ROOMY_PLAN, requests_per_minute: 1 } },
      },
    ),
  });
  [ada, bob] = await Promise.all([signedIn(), signedIn()]);
});

closeAtEnd(() => [upstream, gateway]);

/** A customer whose password was set with the link that the log of a server without mail has. */
async function signedIn(plan = 'roomy', credit = 1_000_000): Promise<Customer> {
  const account = await gateway.createAccount({ plan, credit });
  const session = openApi(gateway.url, 'customer');
  await session.send('POST', '/auth/password/forgot', { email: account.email });
  const link = new RegExp(`for ${account.email}: \\S+/reset\\?token=([\\w-]+)`);
  await waitUntil(() => link.test(gateway.output()));
  const token = link.exec(gateway.output())?.[1];
  await session.send('POST', '/auth/password/reset', { token, password: PASSWORD });
  const login = { email: account.email, password: PASSWORD };
  expect((await session.send('POST', '/auth/login', login)).status).toBe(200);
  return { account, session };
}

function ask(
  { session }: Customer,
  format: EveryFormat,
  model: string,
  more: Readonly<Record<string, unknown>> = {},
) {
  return session.send('POST', PLAYGROUND[format], requestBody(format, model, more));
}

function open(
  { session }: Customer,
  format: EveryFormat,
  model: string,
  signal?: AbortSignal,
): Promise<Response> {
  return session.open(PLAYGROUND[format], {
    method: 'POST',
    headers: { origin: gateway.url, 'content-type': 'application/json' },
    body: JSON.stringify(requestBody(format, model, { stream: true })),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** What stays the same between calls: not ids, times or the balance. */
function lasting(text: string): string {
  return text
    .replaceAll(/"(id|request_id)":"(chatcmpl-|msg_|req_|resp_|rs_|fc_)\w+"/g, '"$1":"$2"')
    .replaceAll(/"item_id":"(msg_|rs_|fc_)\w+"/g, '"item_id":"$1"')
    .replaceAll(/"(created|created_at)":\d+/g, '"$1":0')
    .replaceAll(/"svc_balance_tokens":"[\d.]+"/g, '"svc_balance_tokens":""');
}

const lastingEvents = (events: readonly SseEvent[]): string[] =>
  events.map(({ event, data }) => `${event} ${lasting(data)}`);

describe.each(EVERY_FORMAT)('%s', (format) => {
  test('answers what /v1 answers, whole', async () => {
    const expected = await generate(ada.account, format, 'reasoning-and-tool');
    const answer = await ask(ada, format, 'reasoning-and-tool');
    expect(answer.status).toBe(200);
    expect(lasting(answer.text)).toBe(lasting(JSON.stringify(expected.json)));
    const { headers } = answer;
    for (const [name, value] of expected.headers) {
      if (!/^(date|content-length|x-svc-balance|(x-)?request-id|x-ratelimit-\w+-\w+)$/.test(name)) {
        expect([name, headers.get(name)]).toEqual([name, value]);
      }
    }
    expect(headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{32}$/);
    expect(headers.get('x-ratelimit-limit-requests')).toBe('100000');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  test('answers what /v1 answers, streamed', async () => {
    const expected = await generateStream(ada.account, format, 'reasoning-and-tool');
    const response = await open(ada, format, 'reasoning-and-tool');
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ]);
    expect(lastingEvents(await collectEvents(response))).toEqual(lastingEvents(expected.events));
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('x-svc-model')).toBe('reasoning-and-tool');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('passes a stream on as it comes', async () => {
    const response = await open(ada, format, 'slow-tokens-400-10');
    const reader = response.body?.getReader();
    const first = await reader?.read();
    expect(first?.done).toBe(false);
    expect(upstream.active()).toBe(1);
    await reader?.cancel();
    await upstream.waitFor(({ active }) => active() === 0);
  });

  test('a visitor who leaves ends the request at its upstream, and pays for what was made', async () => {
    const before = upstream.aborted();
    const leaving = new AbortController();
    const response = await open(ada, format, 'slow-tokens-400-10', leaving.signal);
    await response.body?.getReader().read();
    leaving.abort();
    await upstream.waitFor(({ aborted }) => aborted() === before + 1);
    const story = await explain(gateway, response.headers.get('x-request-id'));
    expect(story.request).toMatchObject({ outcome: 'client_cancelled' });
  });

  test('is charged to the account and listed as the playground', async () => {
    const customer = await signedIn();
    const answer = await ask(customer, format, 'ok');
    const requestId = String(answer.headers.get('x-request-id'));
    expect(answer.headers.get('x-svc-balance')).toBe('999983.6');
    const story = await explain(gateway, requestId);
    expect(story).toMatchObject({ account_id: customer.account.id, key_id: 'playground' });
    expect((await customer.session.get('/account')).json).toMatchObject({
      balance: { available: '999983.6', reserved: '0' },
    });
    expect((await customer.session.get(`/requests/${requestId}`)).status).toBe(200);
    expect((await customer.session.get('/requests')).json).toMatchObject({
      data: [{ id: requestId, key_id: 'playground' }],
    });
    expect((await bob.session.get(`/requests/${requestId}`)).status).toBe(404);
    const route = {
      chat: 'playground_chat_completions',
      messages: 'playground_messages',
      responses: 'playground_responses',
    }[format];
    const counted = { route, format, model: 'ok', status: '2xx', code: 'none' };
    const metrics = parseMetrics(await (await fetch(`${gateway.url}/metrics`)).text());
    expect(sumOf(metrics, 'tollgate_requests_total', counted)).toBe(1);
    // Lines of the log leave in batches.
    const line = `"requestId":"${requestId}","route":"${route}"`;
    await waitUntil(() => gateway.output().includes(line));
  });

  test('is refused in the envelope of its format, in the words of /v1', async () => {
    const relevant = ({ status, json }: Pick<JsonAnswer, 'status' | 'json'>) => [
      status,
      lasting(JSON.stringify(json)),
    ];
    for (const body of [{ model: 'nothing' }, { temperature: 9 }, { messages: 'none' }]) {
      const expected = await generate(ada.account, format, 'ok', body);
      expect(relevant(await ask(ada, format, 'ok', body))).toEqual(relevant(expected));
    }
    const failed = await ask(ada, format, 'status-500');
    expect(relevant(failed)).toEqual(relevant(await generate(ada.account, format, 'status-500')));
    expect(failed.status).toBe(503);
  });

  test('a body is bounded in size and in depth', async () => {
    const large = await ask(ada, format, 'ok', { user: 'x'.repeat(2_200_000) });
    const deep = `{"model":"ok","messages":${'['.repeat(5_000)}${']'.repeat(5_000)}}`;
    const nested = await ada.session.send('POST', PLAYGROUND[format], deep);
    const broken = await ada.session.send('POST', PLAYGROUND[format], '{');
    expect([large.status, nested.status, broken.status]).toEqual([413, 400, 400]);
    expect(large.json).toMatchObject({ error: { code: 'payload_too_large' } });
  });

  test('an empty balance is 402', async () => {
    const poor = await signedIn('roomy', 1);
    const answer = await ask(poor, format, 'ok');
    expect(answer.status).toBe(402);
    expect(answer.json).toMatchObject({ error: { code: 'insufficient_balance' } });
  });

  test('shares the limits of the account with its keys', async () => {
    const limited = await signedIn('narrow');
    expect((await generate(limited.account, format, 'ok')).status).toBe(200);
    const answer = await ask(limited, format, 'ok');
    expect([answer.status, answer.json]).toMatchObject([
      429,
      { error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' } },
    ]);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test.each([
    ['account_inactive', ['account', 'suspend'], ['account', 'activate']],
    ['account_blocked', ['block', 'add', 'account'], ['block', 'remove', 'account']],
  ])('an account that may not call /v1 may not call it: %s', async (code, hold, free) => {
    const customer = await signedIn();
    const command = (words: readonly string[], more: readonly string[]) =>
      gateway.run(...words, customer.account.id, ...more);
    await command(hold, hold[0] === 'block' ? ['--reason', 'test'] : []);
    await waitUntil(async () => (await ask(customer, format, 'ok')).status === 403);
    const { json } = await ask(customer, format, 'ok');
    expect(json).toMatchObject({ error: { code, request_id: expect.stringMatching(/^req_/) } });
    await command(free, []);
    await waitUntil(async () => (await ask(customer, format, 'ok')).status === 200);
  });
});

describe('the doors', () => {
  test('a session opens nothing on /v1', async () => {
    const headers = { cookie: ada.session.cookie(), 'content-type': 'application/json' };
    for (const format of EVERY_FORMAT) {
      const response = await fetch(`${gateway.url}${PATHS[format]}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(requestBody(format, 'ok')),
      });
      expect([response.status, await response.json()]).toMatchObject([
        401,
        { error: { code: 'missing_api_key' } },
      ]);
    }
  });

  test('a key opens nothing here, with a session or without', async () => {
    const before = upstream.requests.length;
    const { key } = ada.account;
    for (const format of EVERY_FORMAT) {
      const path = `/dashboard/api${PLAYGROUND[format]}`;
      const alone = await post(ada.account, path, requestBody(format, 'ok'));
      expect([alone.status, await alone.json()]).toMatchObject([
        403,
        { error: { code: 'session_required' } },
      ]);
      const both = { 'x-api-key': key };
      const body = requestBody(format, 'ok');
      expect((await ada.session.send('POST', PLAYGROUND[format], body, both)).status).toBe(403);
    }
    expect(upstream.requests.length).toBe(before);
  });

  test.each([
    ['no session', () => openApi(gateway.url, 'customer'), {}, 401],
    ['a page from elsewhere', () => ada.session, { origin: 'https://elsewhere.example' }, 403],
    ['a form', () => ada.session, { 'content-type': 'text/plain' }, 415],
  ])('%s is sent away before anything is asked', async (_who, session, headers, status) => {
    const before = upstream.requests.length;
    const body = requestBody('chat', 'ok');
    expect((await session().send('POST', PLAYGROUND.chat, body, headers)).status).toBe(status);
    expect(upstream.requests.length).toBe(before);
  });

  test('a blocked network and maintenance refuse here as on /v1', async () => {
    await gateway.run('block', 'add', 'network', '127.0.0.1', '--reason', 'test');
    await waitUntil(async () => (await ask(ada, 'chat', 'ok')).status === 403);
    expect((await ask(ada, 'chat', 'ok')).json).toMatchObject({ error: { code: 'ip_blocked' } });
    await gateway.run('block', 'remove', 'network', '127.0.0.1');
    await gateway.run('maintenance', 'on', '--message', 'Back at noon.');
    await waitUntil(async () => (await ask(ada, 'messages', 'ok')).status === 503);
    expect((await ask(ada, 'messages', 'ok')).json).toMatchObject({
      type: 'error',
      error: { code: 'maintenance_mode', message: 'Back at noon.' },
    });
    await gateway.run('maintenance', 'off');
    await waitUntil(async () => (await ask(ada, 'chat', 'ok')).status === 200);
  });
});

test('a generation is no change: more than 60 a minute are answered, and changes stay possible', async () => {
  const customer = await signedIn();
  for (let count = 0; count <= 60; count += 1) {
    expect((await ask(customer, 'chat', 'ok')).status).toBe(200);
  }
  const made = await customer.session.send('POST', '/keys', { name: 'ci' });
  expect(made.status).toBe(200);
});
