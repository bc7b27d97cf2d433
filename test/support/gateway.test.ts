// One request of each kind through the common test setup: the scripted upstream, the executable,
// its command line and the clients.

import { beforeAll, expect, test } from 'bun:test';
import { HELLO } from './behaviours.ts';
import { catalogFor, UPSTREAM_KEY } from './catalog.ts';
import { FORMATS, generate, generateStream, get } from './client.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from './gateway.ts';
import { startUpstream, type Upstream } from './upstream.ts';

let upstream: Upstream;
let gateway: Gateway;
let account: TestAccount;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({ catalog: catalogFor(upstream, ['ok', 'stall']) });
  account = await gateway.createAccount({ plan: 'pro', credit: 100_000 });
});

closeAtEnd(() => [upstream, gateway]);

/** (10 − 4) × 1 + 4 × 0.1 + 5 × 2 */
const CHARGE = '16.4';

test.each(FORMATS)('%s: a whole answer is charged', async (format) => {
  const answer = await generate(account, format, 'ok');
  expect(answer.status).toBe(200);
  expect(JSON.stringify(answer.json)).toContain(HELLO);
  expect(answer.json['usage']).toMatchObject({ svc_tokens_debited: CHARGE });
  expect(answer.headers.get('x-svc-tokens-debited')).toBe(CHARGE);
});

test.each(FORMATS)('%s: a streamed answer is charged', async (format) => {
  const answer = await generateStream(account, format, 'ok');
  expect(answer.status).toBe(200);
  const usages = answer.events.map(({ json }) => json?.['usage']);
  const debits = usages.flatMap((usage) => (usage as Record<string, unknown> | null) ?? []);
  expect(debits.at(-1)).toMatchObject({ svc_tokens_debited: CHARGE });
});

test('the models of the catalog are listed', async () => {
  const list = await get(account, '/v1/models');
  expect(JSON.stringify(list.json)).toContain('"stall"');
});

test('the upstream gets its own key, and no other server does', () => {
  const keys = new Set(upstream.requests.map((request) => request.headers['authorization']));
  expect([...keys]).toEqual([`Bearer ${UPSTREAM_KEY}`]);
  expect(gateway.output()).not.toContain(UPSTREAM_KEY);
  expect(gateway.output()).not.toContain(account.key);
});

test('a stopped gateway ends with 0 and starts again on its data', async () => {
  expect(await gateway.stop()).toBe(0);
  gateway = await startGateway({ directory: gateway.directory });
  const answer = await generate({ url: gateway.url, key: account.key }, 'chat', 'ok');
  expect(answer.status).toBe(200);
});
