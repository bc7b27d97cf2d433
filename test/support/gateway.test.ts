// The common test setup: the key of the scripted upstream, and a restart on the same data.

import { beforeAll, expect, test } from 'bun:test';
import { catalogFor, UPSTREAM_KEY } from './catalog.ts';
import { generate } from './client.ts';
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

test('the upstream gets its own key, and no other server does', async () => {
  expect((await generate(account, 'chat', 'ok')).status).toBe(200);
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
