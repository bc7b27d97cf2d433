// Limits that must hold over a restart after a kill, and while an operator lowers a model's limits
// with requests running.

import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { catalogFor } from '../support/catalog.ts';
import { type Caller, generate, get, openStream } from '../support/client.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { awayFromMidnight } from '../support/midnight.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

const WIDE = {
  requests_per_minute: 1_000,
  tokens_per_minute: 1_000_000,
  concurrent_requests: 50,
  max_context: 128_000,
  max_api_keys: 5,
};

let upstream: Upstream;
let catalog: string;

beforeEach(awayFromMidnight);

beforeAll(async () => {
  upstream = await startUpstream();
  catalog = catalogFor(upstream, ['ok', 'stall'], {
    plans: {
      wide: WIDE,
      'three-requests': { ...WIDE, requests_per_minute: 3 },
      daily: { ...WIDE, daily_tokens: 2_000 },
    },
  });
});

afterAll(() => upstream.close());

const start = (directory?: string): Promise<Gateway> =>
  startGateway({
    catalog,
    environment: { LOG_LEVEL: 'warn' },
    ...(directory === undefined ? {} : { directory }),
  });

type Usage = {
  readonly requests_this_minute: { used: number; remaining: number; resets_in_s: number };
  readonly tokens_this_minute: { used: number };
  readonly in_flight: number;
  readonly today: { tokens: number };
  readonly month: { tokens: number };
};

async function usage(of: Caller): Promise<Usage> {
  return (await get(of, '/v1/account')).json['usage'] as Usage;
}

/** Also between which seconds the minute ends: the answer was written while it was waited for. */
async function usageAndEnd(of: Caller) {
  const askedAt = Date.now() / 1_000;
  const used = await usage(of);
  const left = used.requests_this_minute.resets_in_s;
  return [used, { earliest: askedAt + left, latest: Date.now() / 1_000 + left }] as const;
}

const refusalOf = ({ status, json }: Awaited<ReturnType<typeof generate>>) => [
  status,
  (json['error'] as { readonly code?: string } | undefined)?.code,
];

test('a kill opens neither the minute nor the caps, and frees every slot', async () => {
  await using gateway = await start();
  const [counted, capped, idle] = await Promise.all(
    ['three-requests', 'daily', 'wide'].map((plan) => gateway.createAccount({ plan })),
  );
  if (counted === undefined || capped === undefined || idle === undefined) throw new Error('none');
  for (let turn = 0; turn < 2; turn += 1) {
    expect((await generate(counted, 'chat', 'ok', { max_tokens: 100 })).status).toBe(200);
  }
  expect((await generate(capped, 'messages', 'ok', { max_tokens: 100 })).status).toBe(200);
  const stalled = await Promise.all([
    openStream(counted, 'chat', 'stall', { max_tokens: 100 }),
    openStream(capped, 'messages', 'stall', { max_tokens: 1_500 }),
  ]);
  expect((await usage(capped)).in_flight).toBe(1);
  // The first checkpoint is written a moment after the first content; a kill before it costs nothing.
  const ids = stalled.map(({ headers }) => headers.get('x-request-id') ?? '');
  for (const id of ids) {
    await waitUntil(async () => {
      const { hold } = await gateway.run('explain', id);
      return (hold as { readonly phase: string }).phase === 'delivering';
    });
  }
  const [before, endBefore] = await usageAndEnd(counted);
  await gateway.kill();
  await Promise.all(stalled.map((each) => each.text().catch(() => {})));

  await using again = await start(gateway.directory);
  const [countedAgain, cappedAgain, idleAgain] = [counted, capped, idle].map((account) => ({
    url: again.url,
    key: account.key,
  }));
  if (countedAgain === undefined || cappedAgain === undefined || idleAgain === undefined) {
    throw new Error('none');
  }
  const [after, endAfter] = await usageAndEnd(countedAgain);
  expect(after).toMatchObject({
    requests_this_minute: { used: 3, remaining: 0 },
    tokens_this_minute: { used: before.tokens_this_minute.used },
    in_flight: 0,
  });
  // The window ends when it would have ended.
  expect(endAfter.latest - endBefore.earliest).toBeGreaterThan(-2);
  expect(endAfter.earliest - endBefore.latest).toBeLessThan(2);
  const refused = await generate(countedAgain, 'chat', 'ok', { max_tokens: 100 });
  expect(refusalOf(refused)).toEqual([429, 'rate_limit_exceeded']);
  expect(refused.headers.get('x-ratelimit-reset-requests')).toBe(
    `${refused.headers.get('retry-after')}s`,
  );

  // Fifteen tokens of the answer, and what the stalled request is settled at.
  const { today, month, in_flight: inFlight } = await usage(cappedAgain);
  expect([today.tokens > 15, month.tokens, inFlight]).toEqual([true, today.tokens, 0]);
  expect(
    refusalOf(
      await generate(cappedAgain, 'chat', 'ok', {
        messages: [{ role: 'user', content: 'word '.repeat(2_000) }],
      }),
    ),
  ).toEqual([429, 'daily_limit_exceeded']);
  expect((await usage(idleAgain)).requests_this_minute.used).toBe(0);
  expect((await generate(idleAgain, 'chat', 'ok')).status).toBe(200);
}, 30_000);

test('limits that are set while requests of the model run count them, and lifted ones are gone', async () => {
  await using gateway = await start();
  const account = await gateway.createAccount({ plan: 'wide' });
  const aborts = [new AbortController(), new AbortController()];
  const streams: Response[] = [];
  for (const { signal } of aborts) {
    streams.push(await openStream(account, 'chat', 'stall', { max_tokens: 100 }, signal));
  }
  expect(streams.map(({ status }) => status)).toEqual([200, 200]);
  const limits = async () => (await get(account, '/v1/account')).json['model_limits'];
  const limit = (...args: string[]) => gateway.run('models', 'limit', 'stall', ...args);
  await limit('--concurrent-requests', '2', '--requests-per-minute', '4');
  await waitUntil(async () => ((await limits()) as unknown[]).length === 1);
  const refused = await generate(account, 'chat', 'stall', { max_tokens: 100 });
  expect(refusalOf(refused)).toEqual([429, 'concurrency_limit_exceeded']);
  expect([
    refused.headers.get('retry-after'),
    refused.headers.get('x-ratelimit-limit-requests'),
    refused.headers.get('x-ratelimit-remaining-requests'),
  ]).toEqual(['2', '4', '2']);
  expect((await generate(account, 'chat', 'ok', { max_tokens: 100 })).status).toBe(200);

  await limit('--clear');
  await waitUntil(async () => ((await limits()) as unknown[]).length === 0);
  const abort = new AbortController();
  const third = await openStream(account, 'chat', 'stall', { max_tokens: 100 }, abort.signal);
  expect([third.status, third.headers.get('x-ratelimit-limit-requests')]).toEqual([200, '1000']);
  for (const each of [...aborts, abort]) each.abort();
  await Promise.all([...streams, third].map((each) => each.text().catch(() => {})));
  await waitUntil(async () => (await usage(account)).in_flight === 0);
}, 30_000);
