// What an operator changes on a running server takes effect: blocks, standings, plans, keys,
// maintenance, incident limits. In both formats, against a real server. How soon it does is in
// changes.quiet.test.ts.

import { Database } from 'bun:sqlite';
import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import {
  type Caller,
  type Format,
  generate,
  get,
  PATHS,
  post,
  requestBody,
} from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

// Each change is a process of its own.
setDefaultTimeout(60_000);

const FORMATS: readonly Format[] = ['chat', 'messages'];

let upstream: Upstream;
let gateway: Gateway;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    catalog: catalogFor(upstream, ['ok', 'plain'], {
      plans: { large: LARGE_PLAN, plain: { ...LARGE_PLAN, models: ['plain'] } },
    }),
    environment: { TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8' },
  });
});

closeAtEnd(() => [upstream, gateway]);

const newAccount = (): Promise<TestAccount> => gateway.createAccount({ plan: 'large' });

/** Waits until both formats answer `expected`: a status of 200, or the code of a refusal. */
function answers(
  caller: Caller,
  expected: string,
  { model = 'ok', from }: { readonly model?: string; readonly from?: string } = {},
): Promise<void> {
  const headers = from === undefined ? {} : { 'x-forwarded-for': from };
  return waitUntil(async () => {
    const codes = await Promise.all(
      FORMATS.map(async (format) => {
        const response = await post(caller, PATHS[format], requestBody(format, model), { headers });
        const body = (await response.json()) as { error?: { code?: string } };
        return response.status === 200 ? 'ok' : body.error?.code;
      }),
    );
    return codes.every((code) => code === expected);
  });
}

test('standings, plans and e-mail addresses', async () => {
  const account = await newAccount();
  await answers(account, 'ok');
  const steps: readonly (readonly [expected: string, ...command: string[]])[] = [
    ['account_inactive', 'account', 'suspend', account.id],
    ['ok', 'account', 'activate', account.id],
    ['account_inactive', 'account', 'delete', account.id],
    ['ok', 'account', 'activate', account.id],
    ['model_not_in_plan', 'account', 'plan', account.id, 'plain'],
    ['ok', 'account', 'plan', account.id, 'large'],
  ];
  for (const [expected, ...command] of steps) {
    await gateway.run(...command);
    await answers(account, expected);
  }
  const unverified = await gateway.createAccount({ plan: 'large', verified: false });
  await answers(unverified, 'email_not_verified');
  await gateway.run('account', 'verify', unverified.id);
  await answers(unverified, 'ok');
});

test('a key that is revoked, and one that is rotated with the one in its place', async () => {
  const account = await newAccount();
  await answers(account, 'ok');
  const { created } = await gateway.run('key', 'rotate', account.key);
  await answers(account, 'invalid_api_key');
  const rotated = { ...account, key: (created as { readonly key: string }).key };
  await answers(rotated, 'ok');
  await gateway.run('key', 'revoke', rotated.key);
  await answers(rotated, 'invalid_api_key');
});

test('blocks of accounts and keys, and their end', async () => {
  const account = await newAccount();
  for (const [kind, value, code] of [
    ['account', account.email, 'account_blocked'],
    ['key', account.key, 'api_key_blocked'],
  ] as const) {
    await gateway.run('block', 'add', kind, value);
    await answers(account, code);
    await gateway.run('block', 'remove', kind, value);
    await answers(account, 'ok');
  }
});

test.each([
  ['203.0.113.9/24', '203.0.113.200', '203.0.114.1'],
  ['::ffff:198.51.100.0/120', '::ffff:198.51.100.7', '198.51.101.7'],
  ['2001:DB8:7::/48', '[2001:db8:7:ffff::1%eth0]:443', '2001:db8:8::1'],
  ['192.0.2.1', '10.1.1.1, 192.0.2.1:80, 10.9.9.9', '192.0.2.1, 192.0.2.2'],
  ['192.0.2.3%eth0', '192.0.2.3%eth0', '192.0.2.4%eth0'],
  ['fe80::1%eth0', '[fe80::1%25wlan0]:443', 'fe80::2%eth0'],
  ['192.0.2.5', '192.0.2.6, not-an-address', 'not-an-address, 192.0.2.6'],
  ['192.0.2.7', '192.0.2.8, unknown, 10.9.9.9', '192.0.2.8, , 10.9.9.9'],
])('a block of the network %s', async (network, inside, outside) => {
  const account = await newAccount();
  await answers(account, 'ok', { from: inside });
  await gateway.run('block', 'add', 'network', network);
  await answers(account, 'ip_blocked', { from: inside });
  await answers(account, 'ok', { from: outside });
  await gateway.run('block', 'remove', 'network', network);
  await answers(account, 'ok', { from: inside });
});

test('a block for a while ends by itself', async () => {
  const account = await newAccount();
  const { block } = await gateway.run('block', 'add', 'account', account.id, '--for', '8s');
  const endsAt = Date.parse((block as { readonly expires_at: string }).expires_at);
  await answers(account, 'account_blocked');
  await Bun.sleep(endsAt - 500 - Date.now());
  await answers(account, 'ok');
  expect(Date.now()).toBeGreaterThanOrEqual(endsAt);
  expect(await gateway.run('block', 'list')).toEqual({ object: 'list', data: [] });
});

test('maintenance, in the standard words or in the words of the operator', async () => {
  const account = await newAccount();
  const words = async () => {
    const { json } = await generate(account, 'messages', 'ok');
    return (json['error'] as { readonly message: string } | undefined)?.message;
  };
  await gateway.run('maintenance', 'on');
  await answers(account, 'maintenance_mode');
  expect(await words()).toBe('The service is in maintenance. Retry with back-off.');
  const message = 'Back at "noon" UTC <soon>.';
  await gateway.run('maintenance', 'on', '--message', message);
  await waitUntil(async () => (await words()) === message);
  expect(await gateway.run('maintenance', 'status')).toEqual({ maintenance: true, message });
  // A request that is refused anyway does not report it.
  await answers({ ...account, key: `sk-${'x'.repeat(48)}` }, 'invalid_api_key');
  await gateway.run('maintenance', 'off');
  await answers(account, 'ok');
  await gateway.run('maintenance', 'on');
  await answers(account, 'maintenance_mode');
  expect(await words()).toBe('The service is in maintenance. Retry with back-off.');
  await gateway.run('maintenance', 'off');
  await answers(account, 'ok');
});

test('lower limits of a model: headers, records and refusals', async () => {
  const account = await newAccount();
  const limit = async (format: Format) =>
    (await generate(account, format, 'plain')).headers.get('x-ratelimit-limit-requests');
  const both = async () => (await Promise.all(FORMATS.map(limit))).join();
  const own = String(LARGE_PLAN['requests_per_minute']);
  expect(await both()).toBe(`${own},${own}`);
  await gateway.run('models', 'limit', 'plain', '--requests-per-minute', '50');
  await waitUntil(async () => (await both()) === '50,50');
  expect((await get(account, '/v1/account')).json['model_limits']).toEqual([
    expect.objectContaining({ model: 'plain', requests_per_minute: 50 }),
  ]);
  await gateway.run('models', 'limit', 'plain', '--clear');
  await waitUntil(async () => (await both()) === `${own},${own}`);
  expect((await get(account, '/v1/account')).json['model_limits']).toEqual([]);
});

test('an upstream out of service, for one model and for all of them', async () => {
  const account = await newAccount();
  const both = async (ok: string, plain: string) => {
    await answers(account, ok);
    await answers(account, plain, { model: 'plain' });
  };
  await both('ok', 'ok');
  await gateway.run('upstream', 'disable', 'scripted', '--model', 'ok', '--reason', 'slow');
  await both('provider_unavailable', 'ok');
  await gateway.run('upstream', 'disable', 'scripted');
  await both('provider_unavailable', 'provider_unavailable');
  const { disabled } = await gateway.run('upstream', 'list');
  expect(disabled).toMatchObject([
    { upstream: 'scripted', model: null, reason: '' },
    { upstream: 'scripted', model: 'ok', reason: 'slow' },
  ]);
  const ready = (await (await fetch(`${gateway.url}/readyz`)).json()) as { warnings: unknown };
  expect(ready.warnings).toEqual(['2 × model out of service at an upstream']);
  await gateway.run('upstream', 'enable', 'scripted');
  await both('provider_unavailable', 'ok');
  await gateway.run('upstream', 'enable', 'scripted', '--model', 'ok');
  await both('ok', 'ok');
});

test('every change of an operator is in the audit trail, by which the server notices it', async () => {
  const account = await newAccount();
  const { id } = account;
  const database = new Database(gateway.databasePath, { readonly: true });
  const actions = () =>
    database.query('SELECT action FROM audit_events ORDER BY id').values().flat();
  await gateway.run('maintenance', 'off');
  const made = await gateway.run('code', 'create', '--amount', '5', '--reason', 'test');
  const [code] = made['data'] as { readonly code: string }[];
  const before = actions().length;
  await gateway.run('code', 'revoke', code?.code ?? '');
  await gateway.run('block', 'add', 'account', id);
  await gateway.run('block', 'remove', 'account', id);
  await gateway.run('models', 'limit', 'ok', '--tokens-per-minute', '9000000');
  await gateway.run('models', 'limit', 'ok', '--clear');
  await gateway.run('upstream', 'disable', 'scripted', '--model', 'plain');
  await gateway.run('upstream', 'enable', 'scripted', '--model', 'plain');
  await gateway.run('upstream', 'reset', 'scripted');
  // It is off already.
  await gateway.run('maintenance', 'off');
  await gateway.run('catalog', 'reload');
  expect(actions().slice(before - 1)).toEqual([
    'code.created',
    'code.revoked',
    'block.added',
    'block.removed',
    'incident.set',
    'incident.cleared',
    'upstream.disabled',
    'upstream.enabled',
    'upstream.reset',
    'catalog.reload_requested',
  ]);
  database.close();
});
