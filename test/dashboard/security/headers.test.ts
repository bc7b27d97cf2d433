// Every response of both applications has headers that make the browser block what our pages never do, and
// keep nothing that only its owner may see.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { addOperator, newEmail, newPassword } from '../../support/customer.ts';
import { type Gateway, startGateway } from '../../support/gateway.ts';
import { PREFIXES, type Realm } from '../../support/session.ts';
import { addressOf, originOf, ROUTES, titled, WRITES } from './routes.ts';

let gateway: Gateway;

beforeAll(async () => {
  gateway = await startGateway();
  // Without one the console is as if it were not there.
  await addOperator(gateway, newEmail(), newPassword());
});
afterAll(() => gateway[Symbol.asyncDispose]());

const POLICY: Readonly<Record<string, string>> = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'font-src': "'self'",
  'img-src': "'self'",
  'connect-src': "'self'",
  'form-action': "'self'",
  'base-uri': "'none'",
  'frame-ancestors': "'none'",
  'object-src': "'none'",
};

/** What each response has; a policy as its directives, in any order. */
function expectGuarded({ headers }: Response): void {
  const policy = headers.get('content-security-policy') ?? '';
  const directives = policy.split(';').map((part) => {
    const [name = '', ...sources] = part.trim().split(' ');
    return [name, sources.join(' ')];
  });
  expect(Object.fromEntries(directives)).toMatchObject(POLICY);
  expect(policy).not.toMatch(/unsafe|data:|blob:|\*|http/);
  expect({
    sniffing: headers.get('x-content-type-options'),
    framing: headers.get('x-frame-options'),
    referrer: headers.get('referrer-policy'),
    opener: headers.get('cross-origin-opener-policy'),
    resource: headers.get('cross-origin-resource-policy'),
    permissions: headers.has('permissions-policy'),
    allowed: headers.get('access-control-allow-origin'),
    framework: headers.get('x-powered-by'),
  }).toEqual({
    sniffing: 'nosniff',
    framing: 'DENY',
    referrer: 'no-referrer',
    opener: 'same-origin',
    resource: 'same-origin',
    permissions: true,
    allowed: null,
    framework: null,
  });
}

describe('a refusal of every route has security headers and is not cacheable (B-180)', () => {
  test.each(titled(ROUTES))('%s', async (_title, route) => {
    const { method } = route;
    const response = await fetch(addressOf(gateway, route), {
      method,
      headers: { origin: 'https://elsewhere.example', 'x-api-key': 'sk-nothing' },
      ...(method === 'GET' ? {} : { body: '{}' }),
    });
    expect(response.status).toBe(403);
    expectGuarded(response);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('x-request-id')).toStartWith('req_');
  });
});

describe.each<Realm>(['customer', 'operator'])('of the application for a %s', (realm) => {
  const base = () => `${originOf(gateway, realm)}${PREFIXES[realm]}`;

  test.each(['', '/', '/keys', '/no/such/page', '/assets/missing.js', '/api', '/api/missing'])(
    'the path "%s" is guarded',
    async (path) => {
      expectGuarded(await fetch(`${base()}${path}`, { redirect: 'manual' }));
    },
  );

  test('a path that does not take the method, and a method that no path takes, are guarded', async () => {
    const [write] = WRITES.filter((route) => route.realm === realm);
    if (write === undefined) return;
    expectGuarded(await fetch(addressOf(gateway, write), { method: 'TRACE' }).catch(untraceable));
    expectGuarded(await fetch(addressOf(gateway, write), { method: 'OPTIONS' }));
    expectGuarded(await fetch(`${base()}/keys`, { method: 'POST', body: '{}' }));
  });

  test('files that the page loads are guarded, and come from here alone', async () => {
    const page = await (await fetch(base())).text();
    const files = [...page.matchAll(/<(?:script|link|img)\b[^>]*\b(?:src|href)="([^"]+)"/g)].map(
      ([, path]) => path ?? '',
    );
    for (const path of files) {
      expect(path).toStartWith(`${PREFIXES[realm]}/assets/`);
      const response = await fetch(`${originOf(gateway, realm)}${path}`);
      expect(response.status).toBe(200);
      expectGuarded(response);
    }
    // A block of data is no script. It ends at the first `<`, so its text has none.
    const blocks = [...page.matchAll(/<script type="application\/json"[^>]*>(.*?)<\/script>/gs)];
    for (const [, json = ''] of blocks)
      expect([JSON.parse(json), json.includes('<')][1]).toBe(false);
    const rest = page.replaceAll(/<script type="application\/json"[^>]*>/g, '');
    expect(rest).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\bon\w+="|\bstyle="/);
  });
});

/** Clients do not send this method at all. */
function untraceable(): Promise<Response> {
  return fetch(`${gateway.url}/dashboard/api/missing`);
}

test('behind TLS, responses send HSTS', async () => {
  await using secure = await startGateway({
    environment: { BASE_URL: 'https://tollgate.example' },
  });
  const response = await fetch(`${secure.url}/dashboard`);
  expect(response.headers.get('strict-transport-security')).toMatch(/^max-age=\d{8,}/);
  const plain = await fetch(`${gateway.url}/dashboard`);
  expect(plain.headers.get('strict-transport-security')).toBeNull();
});
