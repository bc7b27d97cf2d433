// A gateway with two server threads behaves as one: one port, one set of limits, one ledger, one log
// and one set of metrics; what operators change is seen by both, and both drain.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { play } from '../support/behaviours.ts';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import { type Caller, type Format, get, PATHS, post, requestBody } from '../support/client.ts';
import { type Gateway, runCommand, startGateway } from '../support/gateway.ts';
import { parseMetrics, sumOf } from '../support/metrics.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(60_000);

const KILLER = join(import.meta.dir, '../support/thread-killer.ts');
const TINY_PLAN = { ...LARGE_PLAN, requests_per_minute: 20 };

let upstream: Upstream;
let letGo = Promise.withResolvers<void>();
beforeAll(async () => {
  const answer = play({
    pieces: [{ text: 'Hello.' }],
    finish: 'stop',
    usage: { prompt: 10, cached: 4, completion: 5 },
  });
  upstream = await startUpstream({
    async held(exchange) {
      await letGo.promise;
      await answer(exchange);
    },
  });
});
afterAll(() => upstream.close());

function start(environment: Record<string, string> = {}, more: object = {}): Promise<Gateway> {
  letGo = Promise.withResolvers();
  return startGateway({
    catalog: catalogOf(['ok', 'held', 'stall']),
    environment: { WORKERS: '2', ...environment },
    ...more,
  });
}

function catalogOf(models: readonly string[], output = '2'): string {
  return catalogFor(upstream, models, {
    model: { price: { input: '1', cached_input: '0.1', output } },
    plans: { large: LARGE_PLAN, tiny: TINY_PLAN },
  });
}

/** On a connection of its own: the system gives each to one thread or the other. */
function ask(caller: Caller, format: Format, model: string, more = {}): Promise<Response> {
  const headers = { connection: 'close' };
  return post(caller, PATHS[format], requestBody(format, model, more), { headers });
}

const metricsOf = async ({ url }: { readonly url: string }) =>
  parseMetrics(await (await fetch(`${url}/metrics`)).text());

/** Enough connections that both threads have some: one of them has none once in a million times. */
const MANY = 20;

async function askMany(caller: Caller, model = 'ok'): Promise<number[]> {
  const formats: readonly Format[] = ['chat', 'messages'];
  const answers = Array.from({ length: MANY }, (_, index) =>
    ask(caller, formats[index % 2] ?? 'chat', model).then(async (response) => {
      await response.arrayBuffer();
      return response.status;
    }),
  );
  return Promise.all(answers);
}

const OK = Array.from({ length: MANY }, () => 200);

describe('two server threads', () => {
  test('answer as one: money, metrics, log and pages are of both', async () => {
    await using gateway = await start();
    const account = await gateway.createAccount({ plan: 'large' });
    expect(await askMany(account)).toEqual(OK);
    const shown = (await gateway.run('account', 'show', account.id))['account'];
    expect(shown).toMatchObject({ balance: { available: '999672' } });
    const metrics = await metricsOf(account);
    expect(sumOf(metrics, 'tollgate_requests_total', { model: 'ok' })).toBe(MANY);
    expect(sumOf(metrics, 'tollgate_answers_total', { outcome: 'completed' })).toBe(MANY);
    expect(sumOf(metrics, 'tollgate_requests_in_flight')).toBe(0);
    await waitUntil(() => gateway.output().split('"msg":"request"').length === MANY + 1);
    const ready = await (await fetch(`${gateway.url}/readyz`)).json();
    expect(ready).toMatchObject({ status: 'ready', detail: { requests_in_flight: 0 } });
    const page = await fetch(`${gateway.url}/dashboard`);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<!doctype')]);
    const refused = await fetch(`${gateway.url}/dashboard/api/account`);
    expect([refused.status, await refused.json()]).toEqual([
      401,
      { error: expect.objectContaining({ code: expect.any(String) }) },
    ]);
    expect(await gateway.stop()).toBe(0);
    expect(await gateway.run('doctor')).toMatchObject({ ok: true });
  });

  test('admit together what a limit lets in, and not one more', async () => {
    await using gateway = await start();
    const account = await gateway.createAccount({ plan: 'tiny' });
    const statuses = (await Promise.all(Array.from({ length: 10 }, () => askMany(account)))).flat();
    expect(statuses.filter((status) => status === 200)).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(180);
  });

  test('see a revoked key and a changed catalog within a second', async () => {
    await using gateway = await start();
    const account = await gateway.createAccount({ plan: 'large' });
    const other = await gateway.createAccount({ plan: 'large' });
    expect(await askMany(account)).toEqual(OK);
    const [key] = (await gateway.run('key', 'list', account.id))['data'] as { id: string }[];
    await gateway.run('key', 'revoke', key?.id ?? '');
    await Bun.sleep(1_000);
    expect(new Set(await askMany(account))).toEqual(new Set([401]));
    await gateway.writeCatalog(catalogOf(['ok', 'second']));
    await Bun.sleep(1_000);
    expect(await askMany(other, 'second')).toEqual(OK);
    expect(gateway.output().match(/catalog: version 2/g)).toHaveLength(1);
  });

  test('finish what is under way when they are told to stop', async () => {
    await using gateway = await start();
    const account = await gateway.createAccount({ plan: 'large' });
    const whole = askMany(account, 'held');
    const streams = Array.from({ length: 4 }, () => ask(account, 'chat', 'held', { stream: true }));
    await upstream.waitFor(({ active }) => active() === MANY + 4);
    expect(sumOf(await metricsOf(account), 'tollgate_requests_in_flight')).toBe(MANY + 4);
    const stopped = gateway.stop();
    await waitUntil(() => gateway.output().includes(`draining ${MANY + 4} requests`));
    letGo.resolve();
    expect(await whole).toEqual(OK);
    for (const stream of await Promise.all(streams)) {
      expect(await stream.text()).toContain('data: [DONE]');
    }
    expect(await stopped).toBe(0);
  });

  test('do not share their port with another server', async () => {
    await using gateway = await start();
    const environment = { WORKERS: '2', PORT: new URL(gateway.url).port, OPERATOR_PORT: 'off' };
    await using other = await startGateway({ environment: { WORKERS: '2' } });
    const { code, stderr } = await runCommand(
      other.directory,
      { PATH: process.env['PATH'] ?? '', DATABASE_URL: 'sqlite:./other.db', ...environment },
      ['serve'],
    );
    expect([code, stderr]).toEqual([1, expect.stringContaining('is in use')]);
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
  });

  test.each([
    // What is never there is looked for until the end.
    ['1', { REDIS_URL: 'redis://127.0.0.1:1' }],
    ['2', {}],
  ])('end with their process where it cannot start, also if there is %s', async (WORKERS, more) => {
    await using gateway = await start();
    const environment = {
      ...{ PATH: process.env['PATH'] ?? '', DATABASE_URL: 'sqlite:./other.db' },
      // An address that no machine has for itself.
      ...{ WORKERS, PORT: '0', OPERATOR_HOST: '192.0.2.1', ...more },
    };
    const { code, stderr } = await runCommand(gateway.directory, environment, ['serve']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('cannot listen on port')]);
  });

  test('of which one dies: it comes again, its requests are ended, the other goes on', async () => {
    await using gateway = await start({ DRAIN_SECONDS: '0' }, { preload: KILLER });
    const account = await gateway.createAccount({ plan: 'large' });
    const streams = await Promise.all(
      Array.from({ length: MANY }, () => ask(account, 'chat', 'stall', { stream: true })),
    );
    const ended = streams.map((each) => each.text().catch(() => 'cut'));
    await upstream.waitFor(({ active }) => active() === MANY);
    process.kill(gateway.pid, 'SIGUSR2');
    await waitUntil(() => gateway.output().includes('is started again'));
    // Whoever calls meanwhile is served by the one that lives, and soon by both.
    expect(new Set(await askMany(account))).toEqual(new Set([200]));
    const left = MANY - Number(/died with (\d+) request/.exec(gateway.output())?.[1]);
    expect(left).toBeLessThan(MANY);
    expect((await get(account, '/v1/account')).json).toMatchObject({ usage: { in_flight: left } });
    expect(sumOf(await metricsOf(account), 'tollgate_holds_open')).toBe(left);
    expect(await gateway.stop()).toBe(0);
    await Promise.all(ended);
    expect(await gateway.run('doctor')).toMatchObject({ ok: true });
  });
});
