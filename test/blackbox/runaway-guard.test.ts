// The runaway guard of a real server: a key with a small habit bursts, is paused, its owner is
// mailed once and resumes it in the dashboard, and it is not paused again. On two nodes, too.

import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { resolve } from 'node:path';
import { micro, ZERO } from '../../src/core/money.ts';
import { connectDatabase } from '../../src/store/connect.ts';
import { usageHours } from '../../src/store/series-tables.ts';
import { catalogFor, LARGE_PLAN } from '../support/catalog.ts';
import { type Caller, generate, get, openStream } from '../support/client.ts';
import { openSignUp, signUp } from '../support/customer.ts';
import { closeAtEnd, type Gateway, startGateway, type TestAccount } from '../support/gateway.ts';
import { type Mailbox, openMailbox } from '../support/mailbox.ts';
import { newPostgresUrl } from '../support/postgres-database.ts';
import { describeWithServices } from '../support/services.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(120_000);

const DAY_MS = 86_400_000;

/** Longer than two looks of the guard, which are half a second apart with the preload. */
const LOOKS_MS = 1_500;
const preload = resolve(import.meta.dir, '../support/quick-intervals.ts');

/** A burst of 12 answers costs 196.8 service tokens, and one answer 16.4. */
const BURST = 12;
const LIMITS = { RUNAWAY_FACTOR: '3', RUNAWAY_FLOOR: '100' };

let upstream: Upstream;
let mailbox: Mailbox;
let catalog: string;

beforeAll(async () => {
  upstream = await startUpstream();
  mailbox = await openMailbox();
  catalog = catalogFor(upstream, ['ok', 'slow-tokens-150-100'], { plans: { pro: LARGE_PLAN } });
});
closeAtEnd(() => [upstream, mailbox]);

const ask = (caller: Caller) => generate(caller, 'chat', 'ok');

async function burst(caller: Caller): Promise<void> {
  const answers = await Promise.all(Array.from({ length: BURST }, () => ask(caller)));
  expect(answers.map(({ status }) => status)).toEqual(Array(BURST).fill(200));
}

type ListedKey = Readonly<Record<'id' | 'masked' | 'paused_reason', string>>;

/** The account's keys as another of its keys lists them. */
async function keysOf(caller: Caller): Promise<readonly ListedKey[]> {
  return (await get(caller, '/v1/api-keys')).json['data'] as readonly ListedKey[];
}

/** The pauses in the mailbox of an owner. */
function pausesMailedTo(email: string) {
  return mailbox.mails.filter(({ to, subject }) => to === email && subject.includes('paused'));
}

async function untilPaused(caller: Caller): Promise<void> {
  await waitUntil(async () => (await ask(caller)).status === 403, 30_000);
}

async function otherKey(gateway: Gateway, { id }: TestAccount): Promise<string> {
  return String((await gateway.run('key', 'create', id))['key']);
}

test.concurrent('a key that bursts is paused, explained, resumed in one step and not paused again', async () => {
  const environment = {
    ...{ ...openSignUp(mailbox), ...LIMITS },
    CLOCK_BEHIND_MS: String(2 * DAY_MS),
  };
  await using gateway = await startGateway({ catalog, environment, preload });
  const account = await gateway.createAccount({ plan: 'pro' });
  // The habit: one answer an hour, two days ago. Another key of the account is not paused with it.
  expect((await ask(account)).status).toBe(200);
  const fresh = { url: gateway.url, key: await otherKey(gateway, account) };
  for (const days of [1, 2]) {
    process.kill(gateway.pid, 'SIGUSR2');
    await waitUntil(() => gateway.output().split('a day has passed').length === days + 1);
  }
  const { session } = await signUp(gateway, mailbox, account.email);

  const stream = await openStream(account, 'chat', 'slow-tokens-150-100');
  const rest = stream.text();
  await burst(account);
  await untilPaused(account);
  const refused = await ask(account);
  expect(refused.json['error']).toMatchObject({
    code: 'key_paused',
    message: expect.stringContaining('far above its habit'),
  });
  expect(refused.headers.get('x-should-retry')).toBe('false');
  expect((await ask(fresh)).status).toBe(200);
  const keys = await keysOf(fresh);
  expect(keys.map(({ paused_reason }) => paused_reason)).toEqual([null as never, 'runaway']);
  // What had begun runs to its end.
  expect(await rest).toContain('[DONE]');

  await waitUntil(() => pausesMailedTo(account.email).length > 0);
  const [mail] = pausesMailedTo(account.email);
  const masked = keys[1]?.masked ?? '';
  for (const part of [masked, '16.4', 'key_paused', '48 hours']) expect(mail?.text).toContain(part);
  expect(mail?.links).toEqual([`${gateway.url}/dashboard/keys`]);
  expect(mail?.text).not.toContain(account.key);

  const { notices } = (await session.get('/overview')).json as { notices: { kind: string }[] };
  expect(notices.map(({ kind }) => kind)).toContain('keys_paused');
  const id = keys[1]?.id ?? '';
  const audit = (await session.get('/audit')).json['data'] as Record<string, unknown>[];
  expect(audit.find(({ action }) => action === 'api_key.paused')).toMatchObject({
    ...{ subject: id, actor: 'system' },
    detail: { masked, reason: 'runaway', spent: expect.any(String) },
  });
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  expect(metrics).toContain('tollgate_alerts_total{kind="key_runaway"} 1');
  expect(gateway.output().split('where its habit allows').length).toBe(2);

  const resumed = await session.send('POST', `/keys/${id}/resume`);
  expect(resumed.json).toMatchObject({ paused_reason: null, paused_at: null });
  await waitUntil(async () => (await ask(account)).status === 200);
  await burst(account);
  await Bun.sleep(LOOKS_MS);
  expect((await ask(account)).status).toBe(200);
  expect(pausesMailedTo(account.email)).toHaveLength(1);
});

test.concurrent('an owner may exempt a key, and an operator may switch the guard off', async () => {
  const environment = { ...openSignUp(mailbox), ...LIMITS };
  await using gateway = await startGateway({ catalog, environment, preload });
  const account = await gateway.createAccount({ plan: 'pro' });
  const exempt = { url: gateway.url, key: await otherKey(gateway, account) };
  const guarded = { url: gateway.url, key: await otherKey(gateway, account) };
  const { session } = await signUp(gateway, mailbox, account.email);
  const [own, other] = await keysOf(account);
  for (const key of [own, other]) await addHabit(gateway, account, key?.id ?? '');
  const edited = await session.send('PATCH', `/keys/${other?.id}`, { runaway_guard: false });
  expect(edited.json).toMatchObject({ runaway_guard: false, paused_at: null });
  await Promise.all([burst(exempt), burst(guarded)]);
  await untilPaused(guarded);
  await Bun.sleep(LOOKS_MS);
  expect((await ask(exempt)).status).toBe(200);
  const shown = await gateway.run('key', 'edit', exempt.key, '--runaway-guard', 'on');
  expect(shown['api_key']).toMatchObject({ runaway_guard: true });
  await untilPaused(exempt);

  await gateway.run('key', 'resume', exempt.key);
  await gateway.stop();
  const { directory } = gateway;
  const off = { ...environment, RUNAWAY_FACTOR: 'off' };
  await using next = await startGateway({ directory, environment: off, preload });
  const third = { url: next.url, key: await otherKey(next, account) };
  const [newest] = await keysOf(third);
  await addHabit(next, account, newest?.id ?? '');
  await burst(third);
  await Bun.sleep(LOOKS_MS);
  expect((await ask(third)).status).toBe(200);
});

/** As if the key had spent one service token in one hour three days ago. */
async function addHabit(gateway: Gateway, { id }: TestAccount, keyId: string): Promise<void> {
  const url = gateway.environment['DATABASE_URL'] ?? `sqlite:${gateway.databasePath}`;
  const database = connectDatabase({ url, sync: 'normal' });
  const hour = Math.floor(Date.now() / 3_600_000 - 72) * 3_600_000;
  const debited = micro(1_000_000n);
  await database.db.insert(usageHours).values({
    ...{ accountId: id, hour, model: 'ok', requested: 'ok', keyId, requests: 1 },
    ...{ stopped: 0, cancelled: 0, failed: 0, charged: debited, debited, loss: ZERO },
    ...{ inputTokens: 1, cachedInputTokens: 0, outputTokens: 0, reasoningTokens: 0 },
  });
  await database.close();
}

describeWithServices('on two nodes', ['PostgreSQL'], () => {
  test('the key is paused once at both, its owner is mailed once, and a new leader agrees', async () => {
    const environment = {
      ...{ ...openSignUp(mailbox), ...LIMITS, OPERATOR_PORT: 'off' },
      DATABASE_URL: await newPostgresUrl(),
      SESSION_SECRET: 'one secret of all nodes of these tests',
    };
    const start = () => startGateway({ catalog, environment, preload });
    await using one = await start();
    await using two = await start();
    const account = await one.createAccount({ plan: 'pro' });
    const other = { url: one.url, key: await otherKey(one, account) };
    const id = (await keysOf(other))[1]?.id ?? '';
    await addHabit(one, account, id);
    const atTwo = { ...account, url: two.url };
    await Promise.all([burst(account), burst(atTwo)]);
    await untilPaused(account);
    await untilPaused(atTwo);
    await waitUntil(() => pausesMailedTo(account.email).length > 0);

    await one.run('key', 'resume', id);
    await waitUntil(async () => (await ask(atTwo)).status === 200);
    await burst(atTwo);
    await one.kill();
    await burst(atTwo);
    // The new leader reads the last ten minutes, and that the key was resumed.
    const nodes = async () =>
      (await two.run('nodes'))['data'] as readonly { state: string; leader: boolean }[];
    await waitUntil(
      async () => (await nodes()).some(({ state, leader }) => state === 'serving' && leader),
      60_000,
    );
    await Bun.sleep(LOOKS_MS);
    expect((await ask(atTwo)).status).toBe(200);
    expect(pausesMailedTo(account.email)).toHaveLength(1);
  });
});
