// Faulty credentials and upstreams, as several customers meet them: they are detected within a few
// requests, fallbacks serve, the operator is alerted once, and they recover without intervention.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createAccounts } from '../../support/accounts.ts';
import { type Behaviour, play, sendWhole } from '../../support/behaviours.ts';
import { catalogOf, ROOMY_PLAN } from '../../support/catalog.ts';
import { generate } from '../../support/client.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../../support/gateway.ts';
import { USAGE } from '../../support/render.ts';
import { startUpstream, type Upstream, waitUntil } from '../../support/upstream.ts';

setDefaultTimeout(90_000);

type Json = Readonly<Record<string, unknown>>;

/** Sites that have been mended. */
const mended = new Set<string>();

const ok = play({ pieces: [{ text: 'Hello.' }], finish: 'stop', usage: USAGE });

/** Refuses this key, or everything, until the site is mended. */
function refuses(status: number, key?: string): Behaviour {
  return (exchange) => {
    const { site, headers } = exchange.request;
    const isRefused = key === undefined || headers['authorization'] === `Bearer ${key}`;
    if (mended.has(site) || !isRefused) return ok(exchange);
    return sendWhole(exchange, status, '{"error":{"message":"no"}}');
  };
}

const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  ok,
  revoked: refuses(401, 'key-one'),
  'no-money': refuses(402, 'key-one'),
  'not-allowed': refuses(403, 'key-one'),
  down: refuses(500),
};

const ONE = { api_keys: ['key-one'] };
const TWO = { api_keys: ['key-one', 'key-two'] };

/** A model, an upstream and a site for each name. */
const SCENES: Readonly<Record<string, { readonly does: string; readonly upstream: Json }>> = {
  revoked: { does: 'revoked', upstream: ONE },
  alone: { does: 'revoked', upstream: ONE },
  'one-of-two': { does: 'no-money', upstream: TWO },
  down: { does: 'down', upstream: { ...ONE, cool_down_seconds: 3 } },
};

let upstream: Upstream;
let gateway: Gateway;
let accounts: TestAccount[];

beforeAll(async () => {
  upstream = await startUpstream(BEHAVIOURS);
  const remote = (id: string): Json => ({
    ...{ id, dialect: 'chat', base_url: upstream.site(id).baseUrl },
  });
  const half = { ...remote('half'), ...ONE };
  gateway = await startGateway({
    catalog: catalogOf({
      upstreams: [
        { ...remote('well'), ...ONE },
        half,
        ...Object.entries(SCENES).map(([id, scene]) => ({ ...remote(id), ...scene.upstream })),
      ],
      models: [
        { slug: 'spare', served_by: [{ upstream: 'well', model: 'ok' }] },
        { slug: 'half-denied', served_by: [{ upstream: 'half', model: 'not-allowed' }] },
        { slug: 'half-open', served_by: [{ upstream: 'half', model: 'ok' }] },
        ...Object.entries(SCENES).map(([slug, { does }]) => ({
          slug,
          served_by: [{ upstream: slug, model: does }],
          fallbacks: ['spare'],
        })),
      ],
      plans: { roomy: { ...ROOMY_PLAN, models: ['*'] } },
    }),
  });
  accounts = await createAccounts(gateway, 3, { plan: 'roomy', credit: 1_000_000 });
});

closeAtEnd(() => [upstream, gateway]);

const asked = (site: string) => upstream.asked(site);
const probes = (site: string) => upstream.probed(site);

/** Who serves one request of each account, in turn. */
async function serveAll(model: string, of = accounts): Promise<(string | null)[]> {
  const served: (string | null)[] = [];
  for (const account of of) {
    const { status, headers } = await generate(account, 'chat', model);
    expect(status).toBe(200);
    served.push(headers.get('x-svc-model'));
  }
  return served;
}

async function stateOf(id: string): Promise<Json> {
  const answer = (await (await fetch(`${gateway.url}/readyz`)).json()) as Json;
  const { upstreams } = answer['detail'] as { readonly upstreams: readonly Json[] };
  return upstreams.find((each) => each['upstream'] === id) ?? {};
}

const timesTold = (words: string): number => gateway.output().split(words).length - 1;

describe.concurrent('at fault', () => {
  test('a revoked key is in cooldown after one probe, and comes back by one', async () => {
    await serveAll('revoked', accounts.slice(0, 1));
    await waitUntil(async () => timesTold('upstream revoked refuses our credential 1') === 1);
    for (let round = 0; round < 5; round += 1) {
      expect(await serveAll('revoked')).toEqual(['spare', 'spare', 'spare']);
    }
    expect([asked('revoked').length, probes('revoked').length]).toEqual([1, 1]);
    expect(await stateOf('revoked')).toMatchObject({
      credentials: [{ id: '1', state: 'disabled', status: 401 }],
    });
    mended.add('revoked');
    await waitUntil(async () => {
      await Bun.sleep(500);
      return (await serveAll('revoked')).every((model) => model === 'revoked');
    }, 60_000);
    expect(probes('revoked').length).toBe(2);
    expect(timesTold('upstream revoked refuses our credential 1')).toBe(1);
  });

  test('a revoked key of the only account that sends is, too', async () => {
    const [only] = accounts;
    if (only === undefined) throw new Error('no account');
    for (let turn = 0; turn < 5; turn += 1) await serveAll('alone', [only]);
    await waitUntil(() => timesTold('upstream alone refuses our credential 1') === 1);
    expect([asked('alone').length, probes('alone').length]).toEqual([1, 1]);
  });

  test('one of two keys without money leaves its requests to the other', async () => {
    for (let round = 0; round < 10; round += 1) {
      expect(await serveAll('one-of-two')).toEqual(['one-of-two', 'one-of-two', 'one-of-two']);
    }
    const refused = asked('one-of-two').filter(
      ({ headers }) => headers['authorization'] === 'Bearer key-one',
    );
    // At most one of each account, until the probe is back.
    expect(refused.length).toBeLessThanOrEqual(3);
    expect(asked('one-of-two').length).toBe(30 + refused.length);
    await waitUntil(() => timesTold('upstream one-of-two refuses our credential 1') === 1);
  });

  test('a key that is not allowed one model serves the others', async () => {
    const [first, second] = accounts;
    if (first === undefined || second === undefined) throw new Error('no account');
    for (let round = 0; round < 5; round += 1) {
      expect((await generate(first, 'chat', 'half-denied')).status).toBe(503);
      expect((await generate(second, 'chat', 'half-open')).status).toBe(200);
    }
    await waitUntil(() => timesTold('upstream half refuses our credential 1') === 1);
    expect((await generate(second, 'chat', 'half-open')).status).toBe(200);
  });

  test('an upstream that is down is left alone within a few requests, and is found well again', async () => {
    for (let round = 0; round < 10; round += 1) {
      expect(await serveAll('down')).toEqual(['spare', 'spare', 'spare']);
      if (timesTold('upstream down fails for down') > 0) break;
    }
    expect(asked('down').length).toBeLessThanOrEqual(9);
    expect(probes('down').length).toBe(1);
    const before = asked('down').length;
    await serveAll('down');
    expect([asked('down').length - before, timesTold('upstream down fails for down')]).toEqual([
      0, 1,
    ]);
    mended.add('down');
    await waitUntil(async () => {
      await Bun.sleep(100);
      return (await serveAll('down')).every((model) => model === 'down');
    }, 30_000);
    expect(((await stateOf('down'))['models'] as Json[])[0]?.['breaker']).toBe('closed');
  });
});
