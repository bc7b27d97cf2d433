// Requests without a key, bounded by the network of their client.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Gateway, startGateway } from '../support/gateway.ts';

setDefaultTimeout(60_000);

let gateway: Gateway;

beforeAll(async () => {
  gateway = await startGateway({ environment: { TRUSTED_PROXIES: '127.0.0.0/8' } });
});

afterAll(() => gateway[Symbol.asyncDispose]());

// An empty search counts like every other and costs no time, which all networks share a bound of.
const SEARCH = '/docs/search?q=';

const visit = (path: string, address: string): Promise<Response> =>
  fetch(`${gateway.url}${path}`, { headers: { 'x-forwarded-for': address } });

/** Asks from 16 connections until it is refused, and returns the refusal. */
async function exhaust(path: string, address: string): Promise<Response> {
  for (;;) {
    const answers = await Promise.all(Array.from({ length: 16 }, () => visit(path, address)));
    const refused = answers.find(({ status }) => status === 429);
    if (refused !== undefined) return refused;
  }
}

describe('a network that searches without end', () => {
  test('gets 429 with retry-after, and the rest of its IPv6 network with it', async () => {
    const refused = await exhaust(SEARCH, '2001:db8:1:2::3');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const { error } = (await refused.json()) as { readonly error: { readonly message: string } };
    expect(error.message).toContain('more than 6000 requests without a key in a minute');
    const next = await exhaust(SEARCH, '2001:db8:1:2:ffff::1');
    expect(next.status).toBe(429);
  });

  test('keeps no other network from searching', async () => {
    expect((await visit('/docs/search?q=hold', '2001:db8:1:3::3')).status).toBe(200);
    expect((await visit('/docs/search?q=hold', '192.0.2.7')).status).toBe(200);
  });

  test('is still answered by probes', async () => {
    expect((await visit('/healthz', '2001:db8:1:2::3')).status).toBe(200);
    expect((await visit('/readyz', '2001:db8:1:2::3')).status).toBe(200);
  });

  test('still gets 401 for a wrong key, and is served with a right one', async () => {
    const ask = (key: string): Promise<Response> =>
      fetch(`${gateway.url}/v1/models`, {
        headers: { authorization: `Bearer ${key}`, 'x-forwarded-for': '2001:db8:1:2::3' },
      });
    expect((await ask('sk-wrong')).status).toBe(401);
    const { key } = await gateway.createAccount();
    expect((await ask(key)).status).toBe(200);
  });
});
