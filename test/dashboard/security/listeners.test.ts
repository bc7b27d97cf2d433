// The console has its own listener, and no crafted request to the public one reaches it.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { addOperator, newEmail, newPassword } from '../../support/customer.ts';
import { type Gateway, startGateway } from '../../support/gateway.ts';
import { openConnection, type RawAnswer } from '../../support/raw.ts';
import { openApi } from '../../support/session.ts';
import { OPERATOR_ROUTES, pathOf, titled } from './routes.ts';

setDefaultTimeout(30_000);

let gateway: Gateway;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

/** Sends a request by hand to the public listener and returns the response. */
async function ask(head: string): Promise<RawAnswer | undefined> {
  using connection = await openConnection(gateway.url);
  await connection.write(`${head}\r\nconnection: close\r\n\r\n`);
  return await connection.answer();
}

const PATHS = [
  '/operator',
  '/operator/',
  '/operator/api/session',
  '/OPERATOR/api/session',
  '//operator/api/session',
  '/./operator/api/session',
  '/dashboard/../operator/api/session',
  '/dashboard/%2e%2e/operator/api/session',
  '/dashboard/..%2foperator/api/session',
  '/v1/../operator/api/session',
  '/%6fperator/api/session',
  '/operator%2fapi/session',
  '/operator;x/api/session',
  '/operator\\api\\session',
];

const TRICKS: Record<string, string>[] = [
  {},
  { 'x-forwarded-host': '127.0.0.1:3001' },
  { 'x-forwarded-for': '127.0.0.1' },
  { forwarded: 'for=127.0.0.1;host=127.0.0.1:3001' },
  { 'x-original-url': '/operator/api/session', 'x-rewrite-url': '/operator/api/session' },
  { 'x-forwarded-prefix': '/operator', 'x-forwarded-port': '3001' },
  { 'x-http-method-override': 'GET' },
];

describe('the public listener has no console (B-185)', () => {
  test.each(PATHS)('at %s', async (path) => {
    const dashboard = await (await fetch(`${gateway.url}/dashboard`)).text();
    for (const trick of TRICKS) {
      const headers = Object.entries({ host: '127.0.0.1', ...trick });
      const lines = headers.map(([name, value]) => `${name}: ${value}`);
      const answer = await ask([`GET ${path} HTTP/1.1`, ...lines].join('\r\n'));
      // What is left of a path may be a page of the dashboard, whose pages are all one.
      if (answer?.status === 200) expect(answer.text).toBe(dashboard);
      else expect(answer?.status).toBeOneOf([400, 404]);
    }
  });

  test.each(['the address of the console', 'its name', 'nothing'])(
    'for a request that names %s as its host',
    async (named) => {
      const { host } = new URL(gateway.operatorUrl());
      const hosts: Record<string, string> = {
        'the address of the console': host,
        'its name': 'operator',
        nothing: '',
      };
      const line = `host: ${hosts[named]}`;
      expect((await ask(`GET /operator HTTP/1.1\r\n${line}`))?.status).toBe(404);
      const absolute = await ask(`GET http://${host}/operator HTTP/1.1\r\n${line}`);
      expect(absolute?.status).toBeOneOf([400, 404]);
    },
  );

  test('for any route of its table', async () => {
    for (const route of OPERATOR_ROUTES) {
      const response = await fetch(`${gateway.url}/operator/api${pathOf(route)}`, {
        method: route.method,
        headers: { origin: gateway.url, 'content-type': 'application/json' },
        ...(route.method === 'GET' ? {} : { body: '{}' }),
      });
      expect(response.status).toBe(404);
    }
  });
});

test("the console's listener serves neither customers nor generation", async () => {
  const url = gateway.operatorUrl();
  for (const path of ['/dashboard', '/dashboard/api/session', '/v1/models', '/v1/messages', '/']) {
    expect((await fetch(`${url}${path}`, { redirect: 'manual' })).ok).toBe(false);
  }
});

describe('the console is nothing until there is an operator, and has no password of its own (B-168)', () => {
  const loginTo = (url: string, email: string, password: string) =>
    openApi(url, 'operator').send('POST', '/auth/login', { email, password });

  test.each(titled(OPERATOR_ROUTES))('%s', async (_title, route) => {
    const session = openApi(gateway.operatorUrl(), 'operator');
    const { method } = route;
    const answer =
      method === 'GET'
        ? await session.get(pathOf(route))
        : await session.send(method, pathOf(route));
    expect(answer.status).toBe(404);
  });

  test('famous passwords open nothing, before the first operator and after', async () => {
    await using fresh = await startGateway();
    const url = fresh.operatorUrl();
    const tries = ['admin', 'operator', 'root', 'tollgate'].flatMap((name) =>
      ['admin', 'password', 'changeme', 'tollgate', ''].map(
        (password) => [`${name}@tollgate.example`, password] as const,
      ),
    );
    for (const [email, password] of tries.slice(0, 3)) {
      expect((await loginTo(url, email, password)).status).toBe(404);
    }
    await addOperator(fresh, newEmail(), newPassword());
    for (const [email, password] of tries) {
      const { status } = await loginTo(url, email, password);
      expect(status).toBeOneOf([400, 401]);
    }
  });
});

test('the console listens only on loopback by default', () => {
  expect(new URL(gateway.operatorUrl()).hostname).toBe('127.0.0.1');
});

test('a server that is to have no console has none', async () => {
  await using without = await startGateway({ environment: { OPERATOR_PORT: 'off' } });
  expect(without.output()).not.toContain('operator console');
  expect((await fetch(`${without.url}/operator`)).status).toBe(404);
});
