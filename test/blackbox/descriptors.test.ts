// A process with fewer file descriptors than clients: admitted requests complete, the others are
// refused at once, and no upstream is blamed.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import { generate, openStream } from '../support/client.ts';
import { startGateway } from '../support/gateway.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(60_000);

const CLIENTS = 130;

let upstream: Upstream;

beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.close());

describe('128 descriptors', () => {
  test('streams of 130 clients at once', async () => {
    await using gateway = await startGateway({
      catalog: catalogFor(upstream, ['ok', 'slow-tokens-20-100'], {
        plans: { large: { ...LARGE_PLAN, concurrent_requests: 1_000 } },
      }),
      prefix: ['sh', '-c', 'ulimit -n 128 && exec "$0" "$@"'],
    });
    const ada = await gateway.createAccount({ plan: 'large', credit: 100_000_000 });
    const answers = await Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        const response = await openStream(ada, 'chat', 'slow-tokens-20-100');
        return { status: response.status, headers: response.headers, text: await response.text() };
      }),
    );
    const served = answers.filter(({ status }) => status === 200);
    const refused = answers.filter(({ status }) => status !== 200);
    expect(served.length).toBeGreaterThan(20);
    for (const { text } of served) {
      expect(text).toContain('"svc_outcome":"completed"');
      expect(text).toContain('data: [DONE]');
    }
    expect(refused.length).toBeGreaterThan(20);
    for (const { status, headers, text } of refused) {
      expect([status, headers.get('retry-after')]).toEqual([503, '1']);
      expect(JSON.parse(text)).toMatchObject({ error: { code: 'provider_unavailable' } });
      expect(text).toContain('as many connections as it can take');
    }
    // Nothing of it was the upstream's fault, and all is well at once.
    expect(gateway.output()).not.toMatch(/circuit breaker is open|ECONNREFUSED/);
    for (let count = 0; count < 10; count += 1) {
      expect((await generate(ada, 'chat', 'ok')).status).toBe(200);
    }
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
    expect(await gateway.run('doctor')).toMatchObject({ checks: expect.anything() });
  });

  test('outlives silent clients that take all of them', async () => {
    await using gateway = await startGateway({
      catalog: catalogFor(upstream, ['ok']),
      environment: { AUDIT_SECONDS: '4' },
      prefix: ['sh', '-c', 'ulimit -n 128 && exec "$0" "$@"'],
    });
    const ada = await gateway.createAccount({ credit: 100_000_000 });
    const { hostname, port } = new URL(gateway.url);
    const silent = await Promise.all(
      Array.from({ length: CLIENTS }, () =>
        Bun.connect({ hostname, port: Number(port), socket: { data: () => undefined } }),
      ),
    );
    // The audit would start a thread, for which the runtime finds no descriptor.
    const isRefused = () => gateway.output().includes('nearly all file descriptors are in use');
    await waitUntil(isRefused, 30_000);
    for (const socket of silent) socket.end();
    expect((await generate(ada, 'chat', 'ok')).status).toBe(200);
    await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).status === 200);
    expect(await gateway.stop()).toBe(0);
  });
});
