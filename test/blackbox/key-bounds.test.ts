// What a key may do and spend, in a real server: budgets under parallel requests, rotation and
// crashes; models behind aliases and fallbacks; networks behind proxies.

import { beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { catalogFor, ROOMY_PLAN } from '../support/catalog.ts';
import {
  type Caller,
  generate,
  get,
  type JsonAnswer,
  openStream,
  PATHS,
  post,
  requestBody,
} from '../support/client.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { awayFromMidnight } from '../support/midnight.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(60_000);

/** What the scripted upstream's standard answer costs. */
const COST = 16.4;

let upstream: Upstream;
let gateway: Gateway;

beforeEach(awayFromMidnight);

beforeAll(async () => {
  upstream = await startUpstream();
  const plan = { ...ROOMY_PLAN };
  gateway = await startGateway({
    catalog: catalogFor(upstream, ['ok', 'stall', 'status-503', 'other'], {
      models: {
        ok: { aliases: ['ok-alias'] },
        other: { aliases: ['other-alias'], served_by: [{ upstream: 'scripted', model: 'ok' }] },
        'status-503': { fallbacks: ['other', 'ok'] },
      },
      plans: { roomy: plan, narrow: { ...plan, models: ['ok', 'status-503'] } },
    }),
    environment: { TRUSTED_PROXIES: '127.0.0.1' },
  });
});
closeAtEnd(() => [upstream, gateway]);

const newAccount = (): Promise<TestAccount> => gateway.createAccount({ plan: 'roomy' });

/** Small enough that its worst case is close to its cost. */
const ask = (caller: Caller, model = 'ok', more = {}): Promise<JsonAnswer> =>
  generate(caller, 'chat', model, { max_tokens: 5, ...more });

const codeOf = ({ json }: JsonAnswer): unknown =>
  (json['error'] as { readonly code: string } | undefined)?.code;

type Limit = { readonly limit: string; readonly spent: string; readonly remaining: string };
type ListedKey = {
  readonly id: string;
  readonly budget: { readonly total: Limit | null; readonly day: Limit | null; reserved: string };
};

/** The newest key of an account, as the key itself may list it. */
async function ownKey(caller: Caller): Promise<ListedKey> {
  const { json } = await get(caller, '/v1/api-keys');
  const [newest] = json['data'] as readonly ListedKey[];
  if (newest === undefined) throw new Error('there is no key');
  return newest;
}

/** A running server takes up a change of another process within a second. */
async function untilRefused(caller: Caller, code: string, model = 'ok'): Promise<void> {
  await waitUntil(async () => codeOf(await ask(caller, model)) === code);
}

describe('a budget', () => {
  test('is not overspent by parallel requests, and not left unused by more than one', async () => {
    const account = await newAccount();
    await gateway.run('key', 'edit', account.key, '--budget-day', '1000');
    const answers = await Promise.all(Array.from({ length: 120 }, () => ask(account)));
    const served = answers.filter(({ status }) => status === 200).length;
    const refused = new Set(answers.filter(({ status }) => status !== 200).map(codeOf));
    expect(served).toBeGreaterThan(0);
    expect(served * COST).toBeLessThanOrEqual(1_000);
    for (const code of refused) {
      expect(['concurrency_limit_exceeded', 'key_budget_exhausted']).toContain(code as string);
    }
    // One after the other, they use the budget up to less than the worst case of one.
    let one = await ask(account);
    for (let n = 0; one.status === 200 && n < 100; n += 1) one = await ask(account);
    expect(codeOf(one)).toBe('key_budget_exhausted');
    expect(one.headers.get('x-should-retry')).toBe('false');
    const { budget } = await ownKey(account);
    expect(Number(budget.day?.spent)).toBeLessThanOrEqual(1_000);
    expect(Number(budget.day?.remaining)).toBeLessThan(400);
    expect(budget.reserved).toBe('0');
    // The account itself is not poor: another key of it is served.
    const free = { url: account.url, key: await otherKey(account) };
    expect((await ask(free)).status).toBe(200);
  });

  test('follows a rotation, also during a grace period', async () => {
    const account = await newAccount();
    await gateway.run('key', 'edit', account.key, '--budget-total', '600');
    expect((await ask(account, 'ok', { max_tokens: 1 })).status).toBe(200);
    const rotated = await gateway.run('key', 'rotate', account.key, '--grace', '1h');
    const { key } = rotated['created'] as { readonly key: string };
    const replacement = { url: account.url, key };
    await spendAll(replacement);
    expect(codeOf(await ask(account))).toBe('key_budget_exhausted');
    const again = await gateway.run('key', 'rotate', key);
    const third = { url: account.url, key: (again['created'] as { key: string }).key };
    expect(codeOf(await ask(third))).toBe('key_budget_exhausted');
    const spent = (await keyOf(account, third.key)).budget.total?.spent;
    expect(Number(spent)).toBeLessThanOrEqual(600);
    expect(Number(spent)).toBeGreaterThan(0);
  });

  test('that is lowered below what is spent refuses, and raised serves again', async () => {
    const account = await newAccount();
    expect((await ask(account)).status).toBe(200);
    await gateway.run('key', 'edit', account.key, '--budget-month', '1');
    expect(codeOf(await ask(account))).toBe('key_budget_exhausted');
    await gateway.run('key', 'edit', account.key, '--budget-month', '5000');
    expect((await ask(account)).status).toBe(200);
    await gateway.run('key', 'edit', account.key, '--budget-month', 'none');
    expect((await ask(account)).status).toBe(200);
    expect((await keyOf(account)).budget).toBeNull();
  });

  test('lowers the output bound to what it covers', async () => {
    const account = await newAccount();
    await gateway.run('key', 'edit', account.key, '--budget-total', '10000');
    const before = upstream.requests.length;
    expect((await ask(account, 'ok', { max_tokens: 8_000 })).status).toBe(200);
    const asked = upstream.requests.at(-1)?.body as { readonly max_tokens: number };
    expect(upstream.requests.length).toBe(before + 1);
    expect(asked.max_tokens).toBeLessThan(5_000);
    expect(asked.max_tokens).toBeGreaterThanOrEqual(4_096);
  });

  test('survives a killed server in the middle of its requests', async () => {
    await using own = await startGateway({
      catalog: catalogFor(upstream, ['ok', 'stall'], { plans: { roomy: { ...ROOMY_PLAN } } }),
    });
    const account = await own.createAccount({ plan: 'roomy' });
    await own.run('key', 'edit', account.key, '--budget-total', '1000');
    const leave = new AbortController();
    const streams = await Promise.all(
      Array.from({ length: 3 }, () =>
        openStream(account, 'chat', 'stall', { max_tokens: 5 }, leave.signal),
      ),
    );
    expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
    const first = ask(account);
    await first;
    await own.kill();
    leave.abort();
    await using next = await startGateway({ directory: own.directory });
    const caller = { url: next.url, key: account.key };
    const shown = await next.run('key', 'show', account.key);
    const { budget } = shown['api_key'] as ListedKey;
    expect(budget.reserved).toBe('0');
    expect(Number(budget.total?.spent)).toBeGreaterThanOrEqual(COST);
    await spendAll(caller);
    expect(await next.run('doctor')).toMatchObject({ ok: true });
    const after = (await next.run('key', 'show', account.key))['api_key'] as ListedKey;
    expect(Number(after.budget.total?.spent)).toBeLessThanOrEqual(1_000);
  });
});

async function otherKey(account: TestAccount): Promise<string> {
  return String((await gateway.run('key', 'create', account.id))['key']);
}

async function keyOf(account: TestAccount, key = account.key): Promise<ListedKey> {
  return (await gateway.run('key', 'show', key))['api_key'] as ListedKey;
}

async function spendAll(caller: Caller): Promise<void> {
  for (let n = 0; n < 200; n += 1) {
    const answer = await ask(caller, 'ok', { max_tokens: 1 });
    if (codeOf(answer) === 'key_budget_exhausted') return;
    expect(answer.status).toBe(200);
  }
  throw new Error('the budget never ended');
}

describe('a list of models', () => {
  let account: TestAccount;
  beforeAll(async () => {
    account = await newAccount();
    await gateway.run('key', 'edit', account.key, '--models', 'ok-alias,status-503');
    await untilRefused(account, 'model_not_allowed_for_key', 'other');
  });

  test('has slugs: an alias is allowed if its model is', async () => {
    expect((await ask(account, 'ok')).status).toBe(200);
    expect((await ask(account, 'ok-alias')).status).toBe(200);
    expect(codeOf(await ask(account, 'other-alias'))).toBe('model_not_allowed_for_key');
    expect(codeOf(await ask(account, 'no-such-model'))).toBe('model_not_found');
    const shown = await gateway.run('key', 'show', account.key);
    expect((shown['api_key'] as { models: unknown }).models).toEqual(['ok', 'status-503']);
  });

  test('is not left by a fallback', async () => {
    const { status, headers } = await ask(account, 'status-503');
    expect([status, headers.get('x-svc-model')]).toEqual([200, 'ok']);
  });

  test('holds for count_tokens, and is what GET /v1/models says', async () => {
    const body = requestBody('messages', 'other');
    const counted = await post(account, '/v1/messages/count_tokens', body);
    expect(counted.status).toBe(403);
    const { json } = await get(account, '/v1/models');
    const models = json['data'] as readonly { readonly id: string; readonly available: boolean }[];
    expect(
      models
        .filter(({ available }) => available)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(['ok', 'status-503']);
  });

  test('does not widen the plan', async () => {
    const narrow = await gateway.createAccount({ plan: 'narrow' });
    await gateway.run('key', 'edit', narrow.key, '--models', 'ok,other');
    expect(codeOf(await ask(narrow, 'other'))).toBe('model_not_in_plan');
  });

  test('is kept by a replacement', async () => {
    const { created } = await gateway.run('key', 'rotate', account.key, '--grace', '1h');
    const next = { url: account.url, key: (created as { key: string }).key };
    expect(codeOf(await ask(next, 'other'))).toBe('model_not_allowed_for_key');
  });
});

describe('a list of networks', () => {
  let account: TestAccount;
  const from = async (xForwardedFor: string | undefined): Promise<unknown> => {
    const headers = xForwardedFor === undefined ? {} : { 'x-forwarded-for': xForwardedFor };
    const response = await post(account, PATHS.chat, requestBody('chat', 'ok'), { headers });
    const json = (await response.json()) as { readonly error?: { readonly code: string } };
    return json.error?.code ?? response.status;
  };

  beforeAll(async () => {
    account = await newAccount();
    const networks = '198.51.100.0/24,::ffff:192.0.2.7,2001:db8:7::/48';
    await gateway.run('key', 'edit', account.key, '--networks', networks);
    await untilRefused(account, 'address_not_allowed');
  });

  test.each([
    ['198.51.100.255'],
    ['::ffff:198.51.100.9'],
    ['192.0.2.7'],
    ['[2001:db8:7::1]'],
    ['203.0.113.9, 198.51.100.9'],
    ['198.51.100.9, 127.0.0.1'],
  ])('serves %s', async (address) => {
    expect(await from(address)).toBe(200);
  });

  test.each([
    ['198.51.101.1'],
    ['192.0.2.8'],
    ['2001:db8:8::1'],
    // What is left of the right-most hop that is no proxy may be invented.
    ['198.51.100.9, 203.0.113.9'],
    ['198.51.100.9, unknown'],
    ['unknown'],
    [undefined],
  ])('refuses %s', async (address) => {
    expect(await from(address)).toBe('address_not_allowed');
  });

  test('a text that is no network is refused, and changes nothing', async () => {
    for (const text of ['10.0.0.0/33', 'example.org', '1.2.3', '2001:db8::/129', '']) {
      await expect(
        gateway.run('key', 'edit', account.key, '--networks', `198.51.100.0/24,${text}`),
      ).rejects.toThrow('is not a network');
    }
    expect(await from('198.51.100.1')).toBe(200);
  });
});

test('a paused key is refused until it is resumed, and its replacement is paused, too', async () => {
  const account = await newAccount();
  await gateway.run('key', 'pause', account.key);
  await untilRefused(account, 'key_paused');
  const { created } = await gateway.run('key', 'rotate', account.key);
  const next = { url: account.url, key: (created as { key: string }).key };
  expect(codeOf(await ask(next))).toBe('key_paused');
  await gateway.run('key', 'resume', next.key);
  await waitUntil(async () => (await ask(next)).status === 200);
});
