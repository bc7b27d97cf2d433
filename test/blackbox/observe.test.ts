// What operators see of a running gateway: its metrics hold against what was asked and booked, each
// request has one line in the log, and alerts reach the webhook without delaying a request.

import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import { CANARY, HELLO, play, sendWhole } from '../support/behaviours.ts';
import { catalogFor, UPSTREAM_KEY } from '../support/catalog.ts';
import { generate, generateStream, get, requestBody } from '../support/client.ts';
import { type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { parseMetrics, type Series, sumOf } from '../support/metrics.ts';
import { USAGE, wholeBody } from '../support/render.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

type Json = Record<string, unknown>;

const BEHAVIOURS = ['ok', 'status-401', 'status-500', 'zero-usage', 'no-usage', 'inflated', 'odd'];
const TOKEN = 'a-token-of-the-operator-0123456789abcdef';

let upstream: Upstream;

beforeAll(async () => {
  const said = { pieces: [{ text: HELLO }], finish: 'stop' } as const;
  upstream = await startUpstream({
    inflated: play({ ...said, usage: { prompt: 2_095, cached: 0, completion: 5 } }),
    odd: (exchange) => {
      const body = wholeBody('chat', 'odd', { ...said, usage: USAGE });
      sendWhole(exchange, 200, body.replace('"stop"', `"so\\n${'x'.repeat(99)}"`));
    },
  });
});
afterAll(() => upstream.close());

const start = (environment: Record<string, string> = {}): Promise<Gateway> =>
  startGateway({ catalog: catalogFor(upstream, BEHAVIOURS), environment });

async function scrape(gateway: Gateway): Promise<readonly Series[]> {
  const response = await fetch(`${gateway.url}/metrics`);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  return parseMetrics(await response.text());
}

/** The log's lines with that message, in order. */
function linesOf(gateway: Gateway, message: string): Json[] {
  return gateway
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Json)
    .filter(({ msg }) => msg === message);
}

describe('a shop with customers', () => {
  let gateway: Gateway;
  let ada: TestAccount;
  const REQUESTS = 13;

  beforeAll(async () => {
    gateway = await start();
    ada = await gateway.createAccount();
    for (let count = 0; count < 3; count += 1) await generate(ada, 'chat', 'ok');
    for (let count = 0; count < 2; count += 1) await generateStream(ada, 'messages', 'ok');
    await generate(ada, 'chat', 'status-500');
    await generate(ada, 'chat', `no-such-model-${CANARY}`);
    await generate({ ...ada, key: `sk-${'x'.repeat(48)}` }, 'messages', 'ok');
    await generate({ ...ada, key: CANARY }, 'messages', 'ok');
    await fetch(`${gateway.url}/v1/messages/count_tokens`, {
      method: 'POST',
      headers: { 'x-api-key': ada.key },
      body: JSON.stringify(requestBody('messages', 'ok')),
    });
    await get(ada, '/v1/models');
    await get(ada, `/${CANARY}`);
    await generate(ada, 'chat', 'ok', { temperature: CANARY });
    await waitUntil(() => linesOf(gateway, 'request').length === REQUESTS);
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  test('counts what was asked, refused ones included', async () => {
    const all = await scrape(gateway);
    const requests = all
      .filter(({ name }) => name === 'tollgate_requests_total')
      .map(({ labels, value }) => [...Object.values(labels), value].join(' '));
    expect(requests.toSorted()).toEqual([
      'chat_completions chat ok 2xx none 3',
      'chat_completions chat status-500 5xx provider_unavailable 1',
      'chat_completions chat unknown 4xx invalid_request 1',
      'chat_completions chat unknown 4xx model_not_found 1',
      'count_tokens messages ok 2xx none 1',
      'elsewhere chat unknown 4xx not_found 1',
      'messages messages ok 2xx none 2',
      'messages messages unknown 4xx invalid_api_key 2',
      'models chat unknown 2xx none 1',
    ]);
    expect(sumOf(all, 'tollgate_requests_total')).toBe(REQUESTS);
    expect(sumOf(all, 'tollgate_answer_seconds_count')).toBe(6);
    expect(sumOf(all, 'tollgate_requests_in_flight')).toBe(0);
    expect(sumOf(all, 'tollgate_holds_open')).toBe(0);
  });

  test('counts tokens and money as they were booked', async () => {
    const all = await scrape(gateway);
    // Five answers of 10 prompt tokens, 4 of them cached, and 5 of output.
    const kinds = ['input', 'cached_input', 'cache_write', 'output', 'reasoning'].map((kind) =>
      sumOf(all, 'tollgate_tokens_total', { model: 'ok', kind }),
    );
    expect(kinds).toEqual([50, 20, 0, 25, 0]);
    const database = new Database(gateway.databasePath, { readonly: true });
    const [[posted] = []] = database
      .query('SELECT posted FROM balances WHERE account_id = ?')
      .values(ada.id);
    database.close();
    const debited = sumOf(all, 'tollgate_debited_service_tokens_total');
    expect(debited).toBeCloseTo(5 * 16.4, 6);
    expect(debited).toBeCloseTo(1_000_000 - Number(posted) / 1_000_000, 6);
    expect(sumOf(all, 'tollgate_lost_service_tokens_total')).toBe(0);
    expect(sumOf(all, 'tollgate_estimate_ratio_count', { model: 'ok' })).toBe(5);
  });

  test('counts the attempts at each upstream, and the ledger', async () => {
    const all = await scrape(gateway);
    const attempts = (labels: Record<string, string>): number =>
      sumOf(all, 'tollgate_upstream_attempts_total', { upstream: 'scripted', ...labels });
    expect(attempts({ model: 'ok', result: 'served' })).toBe(5);
    expect(attempts({ model: 'status-500', result: 'server_error' })).toBeGreaterThanOrEqual(1);
    expect(sumOf(all, 'tollgate_upstream_first_content_seconds_count', { model: 'ok' })).toBe(5);
    // A hold and an end for each of the six that were let in, at least.
    expect(sumOf(all, 'tollgate_ledger_batch_commands_sum')).toBeGreaterThanOrEqual(12);
    expect(sumOf(all, 'tollgate_ledger_commit_seconds_count')).toBeGreaterThan(0);
    expect(sumOf(all, 'tollgate_event_loop_lag_seconds_count')).toBeGreaterThan(0);
  });

  test('writes one line for each request', () => {
    const [first] = linesOf(gateway, 'request');
    expect(first).toEqual({
      level: 'info',
      time: expect.any(String),
      requestId: expect.stringMatching(/^req_[0-9a-f]{32}$/),
      route: 'chat_completions',
      format: 'chat',
      status: 200,
      accountId: ada.id,
      keyId: expect.stringMatching(/^key_\w{24}$/),
      model: 'ok',
      stream: false,
      durationMs: expect.any(Number),
      outcome: 'completed',
      modelServed: 'ok',
      upstream: 'scripted',
      fallbackUsed: false,
      attempts: 1,
      firstByteMs: expect.any(Number),
      firstContentMs: expect.any(Number),
      estimatedInputTokens: expect.any(Number),
      inputTokens: 10,
      cachedInputTokens: 4,
      cacheWriteTokens: 0,
      outputTokens: 5,
      reasoningTokens: 0,
      usageBasis: 'reported',
      tokensDebited: '16.4',
      msg: 'request',
    });
  });

  test('writes what was refused and what failed with its code', () => {
    const lines = linesOf(gateway, 'request').slice(5);
    const facts = ({ level, route, status, code, model, accountId }: Json): unknown[] => [
      ...[level, route, status, code ?? null, model ?? null],
      accountId === undefined ? 'anonymous' : 'account',
    ];
    expect(lines.map(facts)).toEqual([
      ['warn', 'chat_completions', 503, 'provider_unavailable', 'status-500', 'account'],
      ['info', 'chat_completions', 404, 'model_not_found', null, 'account'],
      ['info', 'messages', 401, 'invalid_api_key', null, 'anonymous'],
      ['info', 'messages', 401, 'invalid_api_key', null, 'anonymous'],
      ['info', 'count_tokens', 200, null, 'ok', 'account'],
      ['info', 'models', 200, null, null, 'account'],
      ['info', 'elsewhere', 404, 'not_found', null, 'anonymous'],
      ['info', 'chat_completions', 400, 'invalid_request', null, 'account'],
    ]);
    expect(lines[0]).toMatchObject({ outcome: 'upstream_failed', failure: 'server_error' });
  });

  test('contains nothing of a key, of a prompt, or of what an upstream said', async () => {
    const response = await fetch(`${gateway.url}/metrics`);
    const text = await response.text();
    for (const secret of [ada.key, UPSTREAM_KEY, CANARY, 'Hello']) {
      expect(text).not.toContain(secret);
      expect(gateway.output()).not.toContain(secret);
    }
    for (const id of [ada.id, 'acct_', 'key_', 'req_']) expect(text).not.toContain(id);
  });
});

describe('who may look', () => {
  const OPERATOR = { authorization: `Bearer ${TOKEN}` };

  async function looks(
    gateway: Gateway,
    headers: Record<string, string>,
  ): Promise<[metrics: number, names: boolean]> {
    const { status } = await fetch(`${gateway.url}/metrics`, { headers });
    const ready = await fetch(`${gateway.url}/readyz`, { headers });
    expect(ready.status).toBe(200);
    const { detail } = (await ready.json()) as { detail: Json };
    return [status, Array.isArray(detail['upstreams'])];
  }

  test('without a token: this machine, but no proxy on it', async () => {
    await using gateway = await start();
    const ada = await gateway.createAccount();
    expect(await looks(gateway, {})).toEqual([200, true]);
    expect(await looks(gateway, { 'x-forwarded-for': '127.0.0.1' })).toEqual([403, false]);
    expect(await looks(gateway, { forwarded: 'for=192.0.2.1' })).toEqual([403, false]);
    const key = { authorization: `Bearer ${ada.key}`, 'x-real-ip': '192.0.2.1' };
    expect(await looks(gateway, key)).toEqual([403, false]);
  });

  test('with a token: accepts the token and no API key', async () => {
    await using gateway = await start({ METRICS_TOKEN: TOKEN });
    const ada = await gateway.createAccount();
    expect(await looks(gateway, OPERATOR)).toEqual([200, true]);
    expect(await looks(gateway, { ...OPERATOR, 'x-forwarded-for': '192.0.2.1' })).toEqual([
      200,
      true,
    ]);
    expect(await looks(gateway, {})).toEqual([403, false]);
    expect(await looks(gateway, { authorization: `Bearer ${ada.key}` })).toEqual([403, false]);
    const { json } = await get(ada, '/metrics');
    expect(json).toMatchObject({ error: { code: 'operator_only', type: 'permission_error' } });
    expect(gateway.output()).not.toContain(TOKEN);
  });

  test('a gateway that is published asks for a token on its own machine, too', async () => {
    await using gateway = await start({ BASE_URL: 'https://gateway.example' });
    expect(await looks(gateway, {})).toEqual([403, false]);
  });
});

describe('alerts', () => {
  test('reach the webhook, signed, and once', async () => {
    const got: { signature: string; body: string }[] = [];
    using hook = Bun.serve({
      port: 0,
      async fetch(request) {
        const signature = request.headers.get('tollgate-signature') ?? '';
        got.push({ signature, body: await request.text() });
        return new Response();
      },
    });
    const environment = {
      ALERT_WEBHOOK_URL: `http://127.0.0.1:${hook.port}/${TOKEN}`,
      ALERT_WEBHOOK_SECRET: 's'.repeat(40),
    };
    await using gateway = await start(environment);
    const ada = await gateway.createAccount();
    expect((await generate(ada, 'chat', 'status-401')).status).toBe(503);
    for (let count = 0; count < 3; count += 1) await generate(ada, 'chat', 'zero-usage');
    await waitUntil(() => got.length >= 2);
    const [{ signature, body } = { signature: '', body: '' }] = got;
    const [, seconds = ''] = /^t=(\d+),v1=[0-9a-f]{64}$/.exec(signature) ?? [];
    const mac = createHmac('sha256', environment.ALERT_WEBHOOK_SECRET);
    expect(signature).toBe(`t=${seconds},v1=${mac.update(`${seconds}.${body}`).digest('hex')}`);
    expect(got.map((each) => JSON.parse(each.body))).toEqual([
      {
        service: 'tollgate',
        instance: expect.stringMatching(/^http:/),
        kind: 'credential_refused',
        message: expect.stringContaining('upstream scripted refuses our credential 1'),
        at: expect.any(String),
        repeated: 0,
      },
      expect.objectContaining({ kind: 'usage_doubted' }),
    ]);
    const all = await scrape(gateway);
    expect(sumOf(all, 'tollgate_alerts_total', { kind: 'usage_doubted' })).toBe(3);
    await waitUntil(() => gateway.output().includes('upstream scripted refuses our credential'));
    expect(gateway.output()).not.toContain(TOKEN);
  });

  test('name what costs money without failing, in the log, on /readyz and in metrics', async () => {
    await using gateway = await start();
    const ada = await gateway.createAccount({ plan: 'business', credit: 100_000_000 });
    for (let count = 0; count < 20; count += 1) {
      await generateStream(ada, 'chat', 'no-usage');
      await generate(ada, 'messages', 'inflated');
      await generate(ada, 'chat', 'odd');
    }
    const ready = (await (await fetch(`${gateway.url}/readyz`)).json()) as Json;
    expect(ready['warnings']).toContain(
      '2 × missing or doubtful usage reports of a model at an upstream; see the alerts',
    );
    await waitUntil(() => gateway.output().includes('prompt tokens that we count for inflated'));
    const words = `"so?${'x'.repeat(37)}"`;
    for (const line of [
      'does not report the usage of most streamed answers of no-usage; our own count is charged',
      'times the prompt tokens that we count for inflated; check which model it serves',
      `the unknown finish_reason ${JSON.stringify(words).slice(1, -1)} for odd`,
    ]) {
      expect(gateway.output().split(line)).toHaveLength(2);
    }
    const all = await scrape(gateway);
    const labels = { upstream: 'scripted', model: 'odd', what: 'finish_reason' };
    expect(sumOf(all, 'tollgate_upstream_unknown_words_total', labels)).toBe(20);
  });

  test('that stand are in /readyz, by name for the operator and by number for others', async () => {
    const catalog = catalogFor(upstream, BEHAVIOURS, { upstream: { cool_down_seconds: 60 } });
    await using gateway = await startGateway({ catalog });
    const ada = await gateway.createAccount();
    await generate(ada, 'chat', 'status-401');
    const ready = async (headers: Record<string, string>): Promise<unknown[]> => {
      const response = await fetch(`${gateway.url}/readyz`, { headers });
      const { status, warnings, detail } = (await response.json()) as Json;
      return [response.status, status, warnings, detail];
    };
    const counts = {
      requests_in_flight: 0,
      streams_open: 0,
      limits: 'own',
      redis: 'off',
      ledger_pending: expect.any(Number),
      credentials_disabled: 1,
      breakers_open: 0,
    };
    const state = expect.objectContaining({ upstream: 'scripted', in_flight: 0, queued: 0 });
    expect(await ready({})).toEqual([
      200,
      'ready',
      ['upstream scripted refuses credential 1 (status 401)'],
      { ...counts, upstreams: [state] },
    ]);
    expect(await ready({ 'x-forwarded-for': '192.0.2.1' })).toEqual([
      200,
      'ready',
      ['1 × upstream credential refused'],
      { ...counts, upstreams: 1 },
    ]);
    const all = await scrape(gateway);
    const labels = { upstream: 'scripted', credential: '1' };
    expect(sumOf(all, 'tollgate_upstream_credential_disabled', labels)).toBe(1);
    expect(sumOf(all, 'tollgate_upstream_attempts_total', { result: 'credential' })).toBe(1);
  });

  test('that no receiver accepts are waited for, and a SIGHUP during the wait does not end the stop', async () => {
    using hook = Bun.serve({ port: 0, fetch: () => new Promise<never>(() => {}) });
    await using gateway = await start({ ALERT_WEBHOOK_URL: `http://127.0.0.1:${hook.port}/` });
    const ada = await gateway.createAccount();
    expect((await generate(ada, 'chat', 'zero-usage')).status).toBe(200);
    const stopped = gateway.stop();
    await waitUntil(() => gateway.output().includes('draining 0 requests'));
    // Does not throw where the test is so late that the stop is over.
    Bun.spawnSync(['kill', '-HUP', String(gateway.pid)]);
    expect(await stopped).toBe(0);
    expect(gateway.output()).toContain('"stopped"');
  }, 20_000);
});
