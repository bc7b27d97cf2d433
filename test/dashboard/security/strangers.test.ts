// Clients without a session or from another origin get nothing done on any route of either
// application. The tables of routes are walked over, so a new route is tested by being there.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { addOperator, newEmail, newPassword } from '../../support/customer.ts';
import { type Gateway, startGateway, type TestAccount } from '../../support/gateway.ts';
import { addressOf, originOf, ROUTES, titled, type WalkedRoute, WRITES } from './routes.ts';
import { type Snapshot, takeSnapshot } from './snapshot.ts';

let gateway: Gateway;
let account: TestAccount;
let before: Snapshot;

beforeAll(async () => {
  gateway = await startGateway();
  // Without one the console is as if it were not there.
  await addOperator(gateway, newEmail(), newPassword());
  account = await gateway.createAccount();
  before = takeSnapshot(gateway.databasePath);
});
afterAll(() => gateway[Symbol.asyncDispose]());

const codeOf = async (response: Response): Promise<[number, unknown]> => {
  const { error } = (await response.json()) as { readonly error?: { readonly code?: string } };
  return [response.status, error?.code];
};

function ask(route: WalkedRoute, headers: Record<string, string>, body = '{}'): Promise<Response> {
  const { method } = route;
  return fetch(addressOf(gateway, route), {
    method,
    headers,
    ...(method === 'GET' ? {} : { body }),
  });
}

/** What a page of the application sends along with a write. */
const asPage = (route: WalkedRoute) => ({
  origin: originOf(gateway, route.realm),
  'content-type': 'application/json',
});

describe('an API key opens no route of an application (B-170)', () => {
  test.each(titled(ROUTES))('%s', async (_title, route) => {
    const forms: Record<string, string>[] = [
      { authorization: `Bearer ${account.key}` },
      { authorization: `bearer  ${account.key}` },
      { 'x-api-key': account.key },
      { authorization: 'Bearer sk-nothing' },
    ];
    for (const form of forms) {
      const response = await ask(route, { ...asPage(route), ...form });
      expect(await codeOf(response)).toEqual([403, 'session_required']);
    }
  });
});

describe('without a session, no route returns data', () => {
  test.each(titled(ROUTES.filter(({ access }) => access !== 'public')))(
    '%s',
    async (_title, route) => {
      const forms: Record<string, string>[] = [
        {},
        { cookie: '__Host-tollgate=; __Host-tollgate-operator=' },
        { cookie: `__Host-tollgate=${'A'.repeat(64)}; __Host-tollgate-operator=${'A'.repeat(64)}` },
        { cookie: `__Host-tollgate=${account.key}; __Host-tollgate-operator=${account.id}` },
      ];
      for (const form of forms) {
        const response = await ask(route, { ...asPage(route), ...form });
        expect(await codeOf(response)).toEqual([401, 'not_signed_in']);
      }
    },
  );
});

describe('a write from elsewhere is refused (B-173)', () => {
  test.each(titled(WRITES))('%s', async (_title, route) => {
    const ours = originOf(gateway, route.realm);
    const { host } = new URL(ours);
    const json = { 'content-type': 'application/json' };
    const elsewhere: Record<string, string>[] = [
      json,
      { ...json, origin: 'null' },
      { ...json, origin: 'https://elsewhere.example' },
      { ...json, origin: `http://sibling.${host}` },
      { ...json, origin: `${ours}.elsewhere.example` },
      { ...json, origin: ours.replace(/:\d+$/, ':1') },
      { ...json, origin: '' },
      { ...json, 'sec-fetch-site': 'cross-site' },
      { ...json, 'sec-fetch-site': 'same-site' },
      { ...json, 'sec-fetch-site': 'none' },
      { ...json, origin: 'https://elsewhere.example', 'sec-fetch-site': 'same-origin' },
    ];
    for (const headers of elsewhere) {
      expect(await codeOf(await ask(route, headers))).toEqual([403, 'cross_origin']);
    }
  });
});

describe('a write that a form could send is refused (B-173)', () => {
  test.each(titled(WRITES))('%s', async (_title, route) => {
    const types = [
      'text/plain',
      'text/plain; application/json',
      'multipart/form-data; boundary=x',
      'application/x-www-form-urlencoded',
      'application/jsonx',
    ];
    for (const type of types) {
      const response = await ask(route, { ...asPage(route), 'content-type': type });
      expect(await codeOf(response)).toEqual([415, 'unsupported_media_type']);
    }
  });
});

describe('no origin may ask in advance (B-174)', () => {
  test.each(titled(ROUTES))('%s', async (_title, route) => {
    const response = await fetch(addressOf(gateway, route), {
      method: 'OPTIONS',
      headers: {
        origin: 'https://elsewhere.example',
        'access-control-request-method': route.method,
        'access-control-request-headers': 'content-type',
      },
    });
    expect(response.ok).toBe(false);
    const allowing = [...response.headers.keys()].filter((name) =>
      name.startsWith('access-control'),
    );
    expect(allowing).toEqual([]);
  });

  test.each(['/v1/chat/completions', '/v1/api-keys', '/v1/account'])('%s', async (path) => {
    const response = await fetch(`${gateway.url}${path}`, {
      method: 'OPTIONS',
      headers: { origin: 'https://elsewhere.example', 'access-control-request-method': 'POST' },
    });
    const allowing = [...response.headers.keys()].filter((name) =>
      name.startsWith('access-control'),
    );
    expect(allowing).toEqual([]);
  });
});

test('none of it changed anything', () => {
  expect(takeSnapshot(gateway.databasePath)).toEqual(before);
});
