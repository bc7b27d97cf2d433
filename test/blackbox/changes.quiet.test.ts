// What an operator changes takes effect on a running server within a second, whether by a command,
// by a file, in the console or by a signal. All the changes there are, without a time, are in
// operators.test.ts and reload.test.ts: what the server caches would be right there after a while.

import { Database } from 'bun:sqlite';
import { beforeAll, expect, test } from 'bun:test';
import type { ErrorCode } from '../../src/core/error.ts';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import { type Caller, generate, get } from '../support/client.ts';
import { createOperator } from '../support/customer.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

/** The promise, from the end of the change on. */
const PROMISED_MS = 1_000;

let upstream: Upstream;
let gateway: Gateway;

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await startGateway({ catalog: priced('2') });
});

closeAtEnd(() => [upstream, gateway]);

const priced = (output: string): string =>
  catalogFor(upstream, ['ok'], {
    model: { price: { input: '1', cached_input: '0.1', output } },
    plans: { large: LARGE_PLAN, few: { ...LARGE_PLAN, tokens_per_minute: 10 } },
  });

const newAccount = (): Promise<TestAccount> => gateway.createAccount({ plan: 'large' });

type Expected = ErrorCode | 'ok';

/** Asks until the answer is this one. */
const becomes = (caller: Caller, expected: Expected): Promise<void> =>
  waitUntil(async () => {
    const { json } = await generate(caller, 'chat', 'ok');
    const error = json['error'] as { readonly code: ErrorCode } | undefined;
    return (error?.code ?? 'ok') === expected;
  }, PROMISED_MS);

type Step = readonly [command: readonly string[], expected: Expected];

test.each<readonly [string, (account: TestAccount) => readonly Step[]]>([
  [
    'the standing of an account',
    ({ id }) => [
      [['account', 'suspend', id], 'account_inactive'],
      [['account', 'activate', id], 'ok'],
    ],
  ],
  [
    'a plan',
    ({ id }) => [
      [['account', 'plan', id, 'few'], 'tokens_per_minute_exceeded'],
      [['account', 'plan', id, 'large'], 'ok'],
    ],
  ],
  [
    'a key',
    ({ key }) => [
      [['key', 'pause', key], 'key_paused'],
      [['key', 'resume', key], 'ok'],
      [['key', 'rotate', key], 'invalid_api_key'],
    ],
  ],
  [
    'a block of an account',
    ({ id }) => [
      [['block', 'add', 'account', id], 'account_blocked'],
      [['block', 'remove', 'account', id], 'ok'],
    ],
  ],
  [
    'a block of a network',
    () => [
      [['block', 'add', 'network', '127.0.0.1'], 'ip_blocked'],
      [['block', 'remove', 'network', '127.0.0.1'], 'ok'],
    ],
  ],
  [
    'maintenance',
    () => [
      [['maintenance', 'on'], 'maintenance_mode'],
      [['maintenance', 'off'], 'ok'],
    ],
  ],
  [
    'the limits of a model',
    () => [
      [['models', 'limit', 'ok', '--tokens-per-minute', '10'], 'tokens_per_minute_exceeded'],
      [['models', 'limit', 'ok', '--clear'], 'ok'],
    ],
  ],
  [
    'an upstream',
    () => [
      [['upstream', 'disable', 'scripted'], 'provider_unavailable'],
      [['upstream', 'enable', 'scripted'], 'ok'],
    ],
  ],
])('%s, by commands', async (_, story) => {
  const account = await newAccount();
  await becomes(account, 'ok');
  for (const [command, expected] of story(account)) {
    await gateway.run(...command);
    await becomes(account, expected);
  }
});

test('an address and a credit, by commands', async () => {
  const account = await gateway.createAccount({ verified: false, credit: '0.5' });
  await becomes(account, 'email_not_verified');
  await gateway.run('account', 'verify', account.id);
  await becomes(account, 'insufficient_balance');
  await gateway.run('account', 'credit', account.id, '100000');
  const { json } = await get(account, '/v1/account');
  expect(json['balance']).toMatchObject({ available: '100000.5' });
  await becomes(account, 'ok');
});

test('a catalog, by its file', async () => {
  const account = await newAccount();
  const debited = async () =>
    (await generate(account, 'chat', 'ok')).headers.get('x-svc-tokens-debited');
  expect(await debited()).toBe('16.4');
  await gateway.writeCatalog(priced('3'));
  await waitUntil(async () => (await debited()) === '21.4', PROMISED_MS);
});

test('the standing of an account, in the console', async () => {
  const { session } = await createOperator(gateway);
  const account = await newAccount();
  await becomes(account, 'ok');
  for (const [standing, expected] of [
    ['suspended', 'account_inactive'],
    ['active', 'ok'],
  ] as const) {
    const answer = await session.send('POST', `/accounts/${account.id}/standing`, { standing });
    expect(answer.status).toBe(200);
    await becomes(account, expected);
  }
});

test('what no command has written, by SIGHUP', async () => {
  const account = await newAccount();
  await becomes(account, 'ok');
  const database = new Database(gateway.databasePath);
  database.run("UPDATE accounts SET standing = 'suspended' WHERE id = ?", [account.id]);
  database.close();
  process.kill(gateway.pid, 'SIGHUP');
  await becomes(account, 'account_inactive');
});
