// The operator's endpoints answer on the gateway's own machine under its own names only, so that a
// page whose name resolves to 127.0.0.1 (DNS rebinding) reads none of them. Over raw sockets.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { openConnection, type RawAnswer } from '../support/raw.ts';

setDefaultTimeout(30_000);

const TOKEN = 'a-token-of-the-operator-0123456789abcdef';

async function ask(
  url: string,
  path: string,
  lines: readonly string[],
  version = 'HTTP/1.1',
): Promise<RawAnswer | undefined> {
  using connection = await openConnection(url);
  const method = path.endsWith('/login') ? 'POST' : 'GET';
  const head = [`${method} ${path} ${version}`, ...lines, 'connection: close'];
  await connection.write(`${head.join('\r\n')}\r\n\r\n`);
  return await connection.answer();
}

const statusOf = async (url: string, path: string, host: string) =>
  (await ask(url, path, [`host: ${host}`]))?.status;

const PUBLIC_PATHS = ['/readyz', '/metrics'];
const CONSOLE_PATHS = [...PUBLIC_PATHS, '/operator', '/operator/', '/operator/api/session'];

describe('hosts', () => {
  let gateway: Gateway;
  let both: readonly (readonly [url: string, path: string])[];

  beforeAll(async () => {
    gateway = await startGateway();
    both = [
      ...PUBLIC_PATHS.map((path) => [gateway.url, path] as const),
      ...CONSOLE_PATHS.map((path) => [gateway.operatorUrl(), path] as const),
    ];
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  test.each([
    'rebind.evil.example',
    'rebind.evil.example:3001',
    'localhost.evil.example',
    '10.0.0.1:3000',
  ])('nothing of the operator answers for %s', async (host) => {
    for (const [url, path] of both) {
      const answer = await ask(url, path, [`host: ${host}`]);
      expect([path, answer?.status]).toEqual([path, 421]);
      const { error } = JSON.parse(answer?.text ?? '');
      expect(error).toMatchObject({ code: 'misdirected_request' });
      expect(error.message).toContain('localhost');
    }
  });

  test.each(['127.0.0.1, rebind.evil.example', 'user@localhost', 'a b', 'evil/localhost'])(
    'nothing of the operator is under %s, which is no host',
    async (host) => {
      for (const [url, path] of both) {
        expect(await statusOf(url, path, host)).toBeOneOf([302, 400, 404, 421]);
      }
    },
  );

  test('no password is checked for a foreign host', async () => {
    const url = gateway.operatorUrl();
    const lines = ['host: evil.example:3001', 'origin: http://evil.example:3001'];
    expect((await ask(url, '/operator/api/auth/login', lines))?.status).toBe(421);
  });

  test.each(['localhost', 'LOCALHOST.', '127.0.0.1:3000', '127.3.2.1', '[::1]:3001', '[0::1]'])(
    'all of it answers for %s',
    async (host) => {
      for (const [url, path] of both) expect(await statusOf(url, path, host)).not.toBe(421);
      expect(await statusOf(gateway.url, '/metrics', host)).toBe(200);
      expect(await statusOf(gateway.operatorUrl(), '/operator', host)).toBe(200);
    },
  );

  test('a health check without a host is answered', async () => {
    for (const url of [gateway.url, gateway.operatorUrl()]) {
      expect((await ask(url, '/readyz', [], 'HTTP/1.0'))?.status).toBe(200);
    }
  });

  test('liveness and the API answer for any host', async () => {
    const host = 'rebind.evil.example';
    expect(await statusOf(gateway.url, '/healthz', host)).toBe(200);
    expect(await statusOf(gateway.operatorUrl(), '/healthz', host)).toBe(200);
    expect(await statusOf(gateway.url, '/v1/models', host)).toBe(401);
  });
});

test('the names of BASE_URL and OPERATOR_HOST are known, and the token opens under any', async () => {
  await using gateway = await startGateway({
    environment: {
      BASE_URL: 'https://Gateway.example:8443',
      OPERATOR_HOST: 'localhost',
      METRICS_TOKEN: TOKEN,
      // A header of a proxy says nothing of the Host.
      TRUSTED_PROXIES: '127.0.0.1',
    },
  });
  for (const host of ['gateway.example', 'GATEWAY.example:8443', 'localhost']) {
    expect(await statusOf(gateway.url, '/readyz', host)).toBe(200);
  }
  const foreign = ['host: prometheus.example', 'x-forwarded-host: gateway.example'];
  expect((await ask(gateway.url, '/readyz', foreign))?.status).toBe(421);
  expect((await ask(gateway.url, '/metrics', foreign))?.status).toBe(421);
  const wrong = [...foreign, `authorization: Bearer ${TOKEN}x`];
  expect((await ask(gateway.url, '/metrics', wrong))?.status).toBe(421);
  const right = [...foreign, `authorization: Bearer ${TOKEN}`];
  expect((await ask(gateway.url, '/metrics', right))?.status).toBe(200);
});
