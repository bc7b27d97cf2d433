// Operator lookups on the command line, equal to those of the console: accounts, movements, keys,
// audit trail.

import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { temporaryDirectory } from '../support/database.ts';
import { gatewayCommand } from '../support/gateway.ts';
import { createTollgate } from './tollgate.ts';

// A child process a command takes its time on a machine that is busy with other things.
setDefaultTimeout(60_000);

const tollgate = createTollgate(temporaryDirectory());
const ANN = 'ann@example.com';
const BOB = 'bob@shop.example';

type Row = Readonly<Record<string, unknown>>;

const rows = async (...args: string[]) => (await tollgate.json(...args))['data'] as Row[];
const emails = async (...args: string[]) =>
  (await rows('account', 'list', ...args)).map(({ email }) => email);

let annKey = '';
let annId = '';

beforeAll(async () => {
  const created = await tollgate.json('account', 'create', '--email', ANN, '--plan', 'pro');
  annKey = String(created['key']);
  annId = String((created['account'] as Row)['id']);
  await tollgate.json('account', 'create', '--email', BOB, '--plan', 'starter');
  await tollgate.json('account', 'suspend', BOB, '--reason', 'chargeback');
});

test('accounts are found by a part of their address, by plan and by standing', async () => {
  expect(await emails()).toEqual([ANN, BOB]);
  expect(await emails('--search', 'SHOP')).toEqual([BOB]);
  expect(await emails('--search', annId)).toEqual([ANN]);
  expect(await emails('--plan', 'starter', '--standing', 'suspended')).toEqual([BOB]);
  expect(await emails('--standing', 'blocked')).toEqual([]);
  expect(await tollgate.refusal('account', 'list', '--standing', 'gone')).toEqual([2, 'usage']);
});

test('the movements of an account, newest first, with their reason', async () => {
  await tollgate.json('account', 'credit', ANN, '5', '--reason', 'invoice', '--id', 'one');
  await tollgate.json('account', 'adjust', ANN, '-1.5', '--reason', 'refund', '--id', 'two');
  const [second, first] = await rows('account', 'movements', ANN);
  expect([second, first]).toEqual([
    {
      sequence: 2,
      transfer_id: 'credit:two',
      kind: 'adjustment',
      amount: '-1.5',
      at: expect.any(String),
      reason: 'refund',
      balance: '3.5',
    },
    expect.objectContaining({ sequence: 1, kind: 'credit', reason: 'invoice', balance: '5' }),
  ]);
  expect(await rows('account', 'movements', ANN, '--limit', '1')).toEqual([second ?? {}]);
  const { stdout } = await tollgate.run('account', 'movements', ANN);
  expect(stdout.split('\n')[1]).toMatch(
    /^\S+ \S+ {2}adjustment {2}-1\.5 +3\.5 +credit:two +refund$/,
  );
});

test('a key is shown with its account and its block, and never itself', async () => {
  await tollgate.json('block', 'add', 'key', annKey, '--reason', 'leaked');
  const { exitCode, stdout } = await tollgate.run('key', 'show', annKey, '--json');
  expect(exitCode).toBe(0);
  expect(stdout).not.toContain(annKey);
  const shown = JSON.parse(stdout);
  expect(shown).toEqual({
    api_key: expect.objectContaining({ status: 'active' }),
    account: { id: annId, email: ANN },
    block: { reason: 'leaked', expires_at: null },
  });
  const words = (await tollgate.run('key', 'show', shown.api_key.id)).stdout;
  expect(words).toContain(`Account ${annId} (${ANN}), active\nBlocked until it is removed\n`);
  expect(await tollgate.refusal('key', 'show', 'key_none')).toEqual([1, 'key_not_found']);
});

test('the trail is read by account, actor, action and subject', async () => {
  const [suspended] = await rows('audit', '--account', BOB, '--limit', '1');
  expect(suspended).toMatchObject({
    actor: 'operator',
    address: null,
    action: 'account.standing_changed',
    detail: { from: 'active', to: 'suspended', reason: 'chargeback' },
  });
  const [credit] = await rows('audit', '--subject', 'one');
  expect(credit).toMatchObject({
    action: 'money.credited',
    account_id: annId,
    detail: { amount: '5', reason: 'invoice' },
  });
  const all = await rows('audit', '--actor', 'operator');
  const before = await rows('audit', '--before', String(all[0]?.['id']), '--action', 'block.added');
  expect(all.length).toBeGreaterThan(6);
  expect(before.length).toBe(all[0]?.['action'] === 'block.added' ? 0 : 1);
  expect(await tollgate.refusal('audit', '--account', 'unknown@example.com')).toEqual([
    1,
    'account_not_found',
  ]);
});

test('a reader that closes the pipe early is no failure', async () => {
  const program = gatewayCommand().map((part) => `"${part}"`);
  const command = `${program.join(' ')} account list --json; echo "ended with $?" >&2`;
  const child = Bun.spawn(['sh', '-c', `{ ${command}; } | true`], {
    cwd: temporaryDirectory(),
    env: { PATH: process.env['PATH'] ?? '', PORT: '0' },
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  });
  expect(await new Response(child.stderr).text()).toBe('ended with 0\n');
});

test('a key of another gateway is taken over once, and only in the form of all keys', async () => {
  const key = `sk-${'Ab3'.repeat(16)}`;
  const bring = (text: string) =>
    tollgate.feed(text, 'key', 'create', BOB, '--key-stdin', '--name', 'old', '--json');
  const { stdout } = await bring(`${key}\n`);
  expect(stdout).not.toContain(key);
  expect(JSON.parse(stdout)).toMatchObject({ api_key: { name: 'old', status: 'active' } });
  expect((await tollgate.json('key', 'show', key))['account']).toMatchObject({ email: BOB });
  expect(JSON.parse((await bring(key)).stderr).error.code).toBe('key_exists');
  for (const other of ['sk-short', `sk-${'_'.repeat(48)}`, `${key}x`, '']) {
    expect(JSON.parse((await bring(other)).stderr).error.code).toBe('invalid_key');
  }
  const [created] = await rows('audit', '--account', BOB, '--action', 'api_key.created');
  expect(JSON.stringify(created)).not.toContain(key);
});
