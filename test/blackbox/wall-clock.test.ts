// The wall clock jumps by an hour while a server runs: minutes and deadlines continue unaffected.

import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { play } from '../support/behaviours.ts';
import { catalogFor, ROOMY_PLAN } from '../support/catalog.ts';
import { generate } from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway } from '../support/gateway.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(30_000);

const jumped = Promise.withResolvers<void>();

let upstream: Upstream;
let gateway: Gateway;

beforeAll(async () => {
  upstream = await startUpstream({
    async 'waits-for-the-jump'(exchange) {
      await jumped.promise;
      // Longer than a server takes to look at its deadlines.
      await exchange.sleep(1_500);
      await play({ pieces: [{ text: 'Hello' }], finish: 'stop' })(exchange);
    },
  });
  gateway = await startGateway({
    catalog: catalogFor(upstream, ['ok', 'waits-for-the-jump'], {
      plans: { tight: { ...ROOMY_PLAN, requests_per_minute: 2 } },
    }),
    preload: join(import.meta.dir, '../support/jumping-clock.ts'),
  });
});

closeAtEnd(() => [upstream, gateway]);

test('an hour ahead, a full minute is still full, and an answer in progress completes', async () => {
  const account = await gateway.createAccount({ plan: 'tight' });
  expect((await generate(account, 'chat', 'ok')).status).toBe(200);
  const underWay = generate(account, 'chat', 'waits-for-the-jump');
  await upstream.waitFor(() => upstream.active() === 1);
  process.kill(gateway.pid, 'SIGUSR2');
  await waitUntil(() => gateway.output().includes('the wall clock has jumped'));
  const refused = await generate(account, 'chat', 'ok');
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
  jumped.resolve();
  expect((await underWay).status).toBe(200);
});
