// The operators' API of a real server: tokens and scopes, accounts, keys with budgets, credits that
// are booked once and obey four eyes, usage and prices. Every answer is held against the description
// that the server has.

import { beforeAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { signInSecret } from '../../src/identity/sign-in/secret.ts';
import { createTopUps } from '../../src/operations/top-ups.ts';
import { catalogFor } from '../support/catalog.ts';
import { generate } from '../support/client.ts';
import { addOperator, newPassword } from '../support/customer.ts';
import { holderOf } from '../support/description.ts';
import { closeAtEnd, type Gateway, startGateway } from '../support/gateway.ts';
import { awayFromMidnight } from '../support/midnight.ts';
import { runProgram } from '../support/program.ts';
import { openApi } from '../support/session.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(60_000);

let upstream: Upstream;
let gateway: Gateway;
let token: string;
let held: ReturnType<typeof holderOf>;

const PREFIX = '/operator/api/v1';
const ANN = { email: 'ann@example.com', password: newPassword() };
const BOB = { email: 'bob@example.com', password: newPassword() };

beforeEach(awayFromMidnight);

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({
    catalog: catalogFor(upstream, ['ok']),
    environment: { FOUR_EYES_ABOVE: '1000' },
  });
  for (const { email, password } of [ANN, BOB]) await addOperator(gateway, email, password);
  const description = await fetch(`${gateway.operatorUrl()}${PREFIX}/openapi.json`);
  held = holderOf((await description.json()) as Parameters<typeof holderOf>[0], PREFIX);
  const scopes =
    'accounts:read,accounts:write,keys:read,keys:write,credits:write,usage:read,prices:read';
  token = await newToken(scopes, '--for', ANN.email);
});
closeAtEnd(() => [upstream, gateway]);

const TOMORROW = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);

async function newToken(scopes: string, ...more: string[]): Promise<string> {
  const options = ['--scopes', scopes, '--expires', `${TOMORROW}T23:00:00Z`, ...more];
  return String((await gateway.run('token', 'create', crypto.randomUUID(), ...options))['token']);
}

type Answer = { readonly status: number; readonly json: Record<string, unknown> };

async function call(method: string, path: string, body?: object, bearer = token): Promise<Answer> {
  const init = {
    method,
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
  const response = held(await fetch(`${gateway.operatorUrl()}${PREFIX}${path}`, init), method);
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

const codeOf = ({ json }: Answer) => (json['error'] as { code?: string } | undefined)?.code;

async function newAccount(): Promise<{ readonly id: string; readonly key: string }> {
  const email = `${crypto.randomUUID()}@example.org`;
  const body = { email, plan: 'pro', email_verified: true };
  const { status, json } = await call('POST', '/accounts', body);
  expect(status).toBe(200);
  return { id: (json['account'] as { id: string }).id, key: String(json['key']) };
}

test('without a valid token there is no answer, and none on the public listener', async () => {
  for (const bearer of ['', 'tgo-x', `tgo-${'x'.repeat(48)}`, `sk-${'x'.repeat(48)}`]) {
    const answer = await call('GET', '/prices', undefined, bearer);
    expect([answer.status, codeOf(answer)]).toEqual([401, 'invalid_operator_token']);
  }
  const headers = { authorization: `Bearer ${token}` };
  for (const path of ['/prices', '/openapi.json', '', '/']) {
    const open = await fetch(`${gateway.url}${PREFIX}${path}`, { headers });
    expect([path, open.status]).toEqual([path, 404]);
  }
});

test('the session of an operator does not open the API, nor a token the console', async () => {
  const session = openApi(gateway.operatorUrl(), 'operator');
  expect((await session.send('POST', '/auth/login', ANN)).status).toBe(200);
  expect((await session.get('/accounts')).status).toBe(200);
  expect((await session.get('/v1/accounts')).status).toBe(401);
  expect((await session.send('POST', '/v1/accounts', { email: 'x', plan: 'pro' })).status).toBe(
    401,
  );
  const headers = { authorization: `Bearer ${token}` };
  const console = await fetch(`${gateway.operatorUrl()}/operator/api/accounts`, { headers });
  expect(console.status).toBe(403);
});

test('accounts are listed page by page, with filters', async () => {
  const made = [await newAccount(), await newAccount(), await newAccount()];
  const first = (await call('GET', '/accounts?limit=2&plan=pro')).json;
  const rest = (await call('GET', `/accounts?limit=2&plan=pro&after=${first['next']}`)).json;
  const ids = [first, rest].flatMap(({ data }) => (data as { id: string }[]).map(({ id }) => id));
  expect(ids.slice(0, 3)).toEqual(made.map(({ id }) => id).toReversed());
  expect((await call('GET', '/accounts?standing=blocked')).json).toMatchObject({ data: [] });
  expect((await call('GET', '/accounts?limit=0')).status).toBe(400);
});

test('a token does what its scopes name, until it is revoked', async () => {
  const narrow = await newToken('prices:read');
  expect((await call('GET', '/prices', undefined, narrow)).status).toBe(200);
  const refused = await call('POST', '/accounts', { email: 'x', plan: 'pro' }, narrow);
  expect([refused.status, codeOf(refused)]).toEqual([403, 'scope_required']);
  const { data } = await gateway.run('token', 'list');
  const [newest] = data as readonly { readonly id: string; readonly last_used_at: string }[];
  expect(newest?.last_used_at).toEqual(expect.any(String));
  expect(JSON.stringify(data)).not.toContain(narrow);
  await gateway.run('token', 'revoke', newest?.id ?? '');
  expect((await call('GET', '/prices', undefined, narrow)).status).toBe(401);
  await expect(newToken('everything')).rejects.toThrow('scopes');
});

test('a credit is booked once by its id, and another body under it is refused', async () => {
  const { id } = await newAccount();
  const credit = { id: crypto.randomUUID(), amount: '500', reason: 'invoice 7' };
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => call('POST', `/accounts/${id}/credits`, credit)),
  );
  const [first] = answers;
  expect(first?.json).toMatchObject({ status: 'booked', amount: '500', balance: '500' });
  for (const answer of answers) expect(answer).toEqual(first as Answer);
  await call('POST', `/accounts/${id}/credits`, { ...credit, id: crypto.randomUUID() });
  // The first result, not the balance of today.
  expect(await call('POST', `/accounts/${id}/credits`, credit)).toEqual(first as Answer);
  const other = await newAccount();
  for (const [account, change] of [
    [id, { amount: '501' }],
    [id, { reason: 'invoice 8' }],
    [id, { kind: 'grant' }],
    [other.id, {}],
  ] as const) {
    const answer = await call('POST', `/accounts/${account}/credits`, { ...credit, ...change });
    expect(answer.status).toBe(409);
  }
  expect((await call('GET', `/accounts/${id}`)).json['balance']).toMatchObject({
    available: '1000',
  });
});

test('a credit above FOUR_EYES_ABOVE waits for an operator, also when it is repeated', async () => {
  const { id } = await newAccount();
  const credit = { id: crypto.randomUUID(), amount: '1000.000001', reason: 'large' };
  const asked = await call('POST', `/accounts/${id}/credits`, credit);
  expect(asked.json).toMatchObject({ status: 'waiting_for_approval' });
  expect(await call('POST', `/accounts/${id}/credits`, credit)).toEqual(asked);
  const other = await call('POST', `/accounts/${id}/credits`, { ...credit, amount: '2000' });
  expect([other.status, codeOf(other)]).toEqual([409, 'approval_conflict']);
  const { id: approval } = asked.json['approval'] as { readonly id: string };
  const decide = async (who: typeof ANN) => {
    const session = openApi(gateway.operatorUrl(), 'operator');
    await session.send('POST', '/auth/login', who);
    return session.send('POST', `/approvals/${approval}/approve`);
  };
  // The token acts for Ann, who cannot be the second one.
  const own = await decide(ANN);
  expect([own.status, own.json['error']]).toEqual([
    403,
    expect.objectContaining({ code: 'own_approval' }),
  ]);
  expect((await call('GET', `/accounts/${id}`)).json['balance']).toMatchObject({ available: '0' });
  expect((await decide(BOB)).json).toMatchObject({ state: 'done' });
  expect((await call('POST', `/accounts/${id}/credits`, credit)).json).toMatchObject({
    ...{ status: 'booked', amount: '1000.000001' },
  });
});

test('the examples of its page work, one after the other', async () => {
  const page = await Bun.file(
    join(import.meta.dir, '../../src/docs/operators/operator-api.md'),
  ).text();
  const examples = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1] ?? '');
  const calls = examples.filter((example) => example.startsWith('curl'));
  expect(calls.length).toBe(4);
  // The token of the page has the scopes that its calls need.
  const scopes = /--scopes (\S+)/.exec(page)?.[1] ?? '';
  const expires = new Date(Date.now() + 86_400_000).toISOString();
  const options = ['--scopes', scopes, '--expires', expires];
  const { token: own } = await gateway.run('token', 'create', 'of-the-page', ...options);
  const databaseUrl = `sqlite:${gateway.databasePath}`;
  const secret = signInSecret({ sessionSecret: undefined, databaseUrl, randomBytes });
  const { issue } = createTopUps({ secret, clock: Date.now, randomBytes });
  const REFERENCE = issue((await newAccount()).id);
  const { code, stdout, stderr } = await runProgram(['sh', '-c', `set -e\n${calls.join('\n')}`], {
    env: { ...process.env, TOKEN: String(own), CONSOLE: gateway.operatorUrl(), REFERENCE },
  });
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('"status":"booked"');
  expect(stdout).toContain('"month":{"limit":"5000000"');
});

test('a key is created with a budget, changed, paused and revoked; usage is counted', async () => {
  const { id } = await newAccount();
  const credit = { id: crypto.randomUUID(), amount: '1000', reason: 'start' };
  await call('POST', `/accounts/${id}/credits`, credit);
  const bounds = { name: 'ci', budget: { day: '500' }, models: ['ok'] };
  const made = (await call('POST', `/accounts/${id}/keys`, bounds)).json;
  expect(made).toMatchObject({ models: ['ok'], budget: { day: { limit: '500', spent: '0' } } });
  const caller = { url: gateway.url, key: String(made['key']) };
  const ask = () => generate(caller, 'chat', 'ok', { max_tokens: 5 });
  expect((await ask()).status).toBe(200);
  const listed = (await call('GET', `/accounts/${id}/keys`)).json['data'] as object[];
  expect(listed[0]).toMatchObject({ id: made['id'], budget: { day: { spent: '16.4' } } });
  const today = new Date().toISOString().slice(0, 10);
  const usage = (await call('GET', `/accounts/${id}/usage?from=${today}`)).json['data'];
  expect(usage).toEqual([expect.objectContaining({ day: today, requests: 1, debited: '16.4' })]);
  await call('PATCH', `/keys/${made['id']}`, { budget: { day: '1' } });
  expect((await ask()).status).toBe(402);
  await call('PATCH', `/keys/${made['id']}`, { budget: null });
  expect((await ask()).status).toBe(200);
  await call('POST', `/keys/${made['id']}/pause`, {});
  await waitUntil(async () => (await ask()).status === 403);
  await call('POST', `/keys/${made['id']}/resume`, {});
  await call('POST', `/keys/${made['id']}/revoke`, {});
  await waitUntil(async () => (await ask()).status === 401);
  const missing = await call('PATCH', '/keys/key_none', { name: 'x' });
  expect([missing.status, codeOf(missing)]).toEqual([404, 'key_not_found']);
});
