// Delivery of alerts to the operator's webhook, with a real server that answers as each test wants.

import { expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import type { Alert } from '../../src/core/alert.ts';
import { createWebhook, type WebhookOptions } from '../../src/observe/webhook.ts';
import { waitUntil } from '../support/upstream.ts';

const NOW = Date.UTC(2026, 10, 21, 12);
const OPENED: Alert = { kind: 'breaker_opened', upstream: 'alpha', model: 'swift-1' };
const STOPPED: Alert = { kind: 'ledger_stopped' };

type Got = { readonly headers: Headers; readonly body: string };

/** A webhook and its server, which answers the n-th request (from 0) with what `answer` says. */
function rig(
  answer: (index: number) => Response | Promise<Response>,
  changes: Partial<WebhookOptions> = {},
) {
  const got: Got[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      got.push({ headers: request.headers, body: await request.text() });
      return answer(got.length - 1);
    },
  });
  const results: string[] = [];
  const failures: string[] = [];
  const webhook = createWebhook({
    url: `${server.url.href}hook?token=in-the-url`,
    secret: undefined,
    instance: 'https://gateway.example',
    clock: () => NOW,
    fetch,
    onResult: (result) => void results.push(result),
    onFailure: (reason) => void failures.push(reason),
    ...changes,
    times: { retryMs: 1, timeoutMs: 10_000, repeatMs: 60_000, closeMs: 10_000, ...changes.times },
  });
  const messages = () => got.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
  return {
    ...{ webhook, server, got, messages, results, failures },
    kinds: () => messages().map(({ kind }) => kind),
    async [Symbol.asyncDispose]() {
      await webhook.close();
      await server.stop(true);
    },
  };
}

const ok = () => new Response('thanks');

test('an alert arrives with its words and its time', async () => {
  await using hook = rig(ok);
  hook.webhook.send(OPENED);
  await waitUntil(() => hook.results.length > 0);
  expect(hook.messages()).toEqual([
    {
      service: 'tollgate',
      instance: 'https://gateway.example',
      kind: 'breaker_opened',
      message: 'upstream alpha fails for swift-1; its circuit breaker is open',
      at: '2026-11-21T12:00:00.000Z',
      repeated: 0,
    },
  ]);
  expect([hook.results, hook.failures]).toEqual([['delivered'], []]);
  expect(hook.got[0]?.headers.get('tollgate-signature')).toBeNull();
});

test('with a secret each body is signed, with its time', async () => {
  const secret = 'a secret of the operator alone';
  await using hook = rig(ok, { secret });
  hook.webhook.send(OPENED);
  await waitUntil(() => hook.got.length > 0);
  const [{ headers, body } = { headers: new Headers(), body: '' }] = hook.got;
  const signature = createHmac('sha256', secret)
    .update(`${NOW / 1_000}.${body}`)
    .digest('hex');
  expect(headers.get('tollgate-signature')).toBe(`t=${NOW / 1_000},v1=${signature}`);
  expect(body).not.toContain(secret);
});

test('repetitions of one kind and subject are sent once, and later with their number', async () => {
  await using hook = rig(ok, { times: { repeatMs: 50 } });
  for (let count = 0; count < 8; count += 1) hook.webhook.send(OPENED);
  hook.webhook.send({ ...OPENED, model: 'swift-0' });
  await waitUntil(() => hook.got.length === 3);
  expect(hook.messages().map(({ message, repeated }) => [message, repeated])).toEqual([
    ['upstream alpha fails for swift-1; its circuit breaker is open', 0],
    ['upstream alpha fails for swift-0; its circuit breaker is open', 0],
    ['upstream alpha fails for swift-1; its circuit breaker is open', 7],
  ]);
});

test('what had been repeated when the gateway stops is reported then', async () => {
  await using hook = rig(ok);
  for (let count = 0; count < 3; count += 1) hook.webhook.send(STOPPED);
  await hook.webhook.close();
  expect(hook.messages().map(({ repeated }) => repeated)).toEqual([0, 2]);
  hook.webhook.send(OPENED);
  expect(hook.kinds()).toEqual(['ledger_stopped', 'ledger_stopped']);
});

test('a server that fails is tried again, and the next alert waits for that', async () => {
  await using hook = rig((index) => (index < 2 ? new Response('', { status: 503 }) : ok()));
  hook.webhook.send(OPENED);
  hook.webhook.send(STOPPED);
  await waitUntil(() => hook.results.length === 2);
  expect(hook.kinds()).toEqual([
    'breaker_opened',
    'breaker_opened',
    'breaker_opened',
    'ledger_stopped',
  ]);
  expect([hook.results, hook.failures]).toEqual([['delivered', 'delivered'], []]);
});

test.each<[string, () => Response, number, string]>([
  ['that fails for good', () => new Response('', { status: 500 }), 4, 'status 500'],
  ['that refuses it', () => new Response('', { status: 403 }), 1, 'status 403'],
  [
    'that redirects',
    () => new Response('', { status: 307, headers: { location: '/elsewhere' } }),
    1,
    'it redirects (status 307), which is not followed',
  ],
])('a server %s is given up and reported without its URL', async (_name, answer, tries, reason) => {
  await using hook = rig(answer);
  hook.webhook.send(OPENED);
  await waitUntil(() => hook.results.length > 0);
  expect([hook.got.length, hook.results]).toEqual([tries, ['failed']]);
  expect(hook.failures).toEqual([
    `the alert breaker_opened could not be sent to the webhook: ${reason}`,
  ]);
});

test('a server that is not there, or never answers, is reported without its URL', async () => {
  await using gone = rig(ok);
  await gone.server.stop(true);
  gone.webhook.send(OPENED);
  await waitUntil(() => gone.results.length > 0);
  await using silent = rig(() => new Promise<Response>(() => {}), { times: { timeoutMs: 20 } });
  silent.webhook.send(OPENED);
  await waitUntil(() => silent.results.length > 0);
  const said = 'the alert breaker_opened could not be sent to the webhook:';
  expect([gone.failures, silent.failures]).toEqual([
    [`${said} no connection`],
    [`${said} no answer in time`],
  ]);
});

test('sending blocks no caller, and what waits is bounded', async () => {
  await using hook = rig(() => new Promise<Response>(() => {}), { times: { closeMs: 200 } });
  const before = performance.now();
  for (let index = 0; index < 500; index += 1) {
    hook.webhook.send({ ...OPENED, model: `model-${index}` });
  }
  // Waiting for one answer alone would take the time limit of a request.
  expect(performance.now() - before).toBeLessThan(2_000);
  // One is in flight, a hundred wait.
  expect(hook.results).toEqual(new Array(399).fill('dropped'));
  await hook.webhook.close();
});
