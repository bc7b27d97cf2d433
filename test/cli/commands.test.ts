// The command line over a real database: what each command prints, and how it refuses.

import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../../src/store/database.ts';
import { temporaryDirectory } from '../support/database.ts';
import { createTollgate } from './tollgate.ts';

// A child process a command takes its time on a machine that is busy with other things.
setDefaultTimeout(60_000);

const directory = temporaryDirectory();
const tollgate = createTollgate(directory);
let account: { readonly id: string };
let key: string;

beforeAll(async () => {
  const created = await tollgate.json(
    ...['account', 'create', '--email', 'Ann@Example.com', '--plan', 'pro'],
    ...['--credit', '1000000', '--verified', '--name', 'laptop'],
  );
  account = created['account'] as typeof account;
  key = String(created['key']);
  expect(created).toEqual({
    account: {
      id: expect.stringMatching(/^acct_[A-Za-z0-9]{24}$/),
      object: 'account',
      email: 'ann@example.com',
      email_verified: true,
      standing: 'active',
      plan: { slug: 'pro', name: 'Pro', since: expect.any(String) },
      balance: {
        available: '1000000',
        reserved: '0',
        total: '1000000',
        available_usd: '1',
        unit: 'svc_token',
      },
      api_keys: { active: 1, limit: 20 },
      created_at: expect.any(String),
    },
    key: expect.stringMatching(/^sk-[A-Za-z0-9]{48}$/),
  });
});

const COMMANDS = [
  'serve',
  'migrate',
  'doctor',
  ...['create', 'list', 'show', 'credit', 'grant', 'adjust'].map((name) => `account ${name}`),
  ...['plan', 'verify', 'suspend', 'activate', 'delete'].map((name) => `account ${name}`),
  ...['create', 'list', 'revoke', 'redeem'].map((name) => `code ${name}`),
  ...['create', 'list', 'revoke', 'rotate'].map((name) => `key ${name}`),
  ...['add', 'remove', 'list'].map((name) => `block ${name}`),
  ...['on', 'off', 'status'].map((name) => `maintenance ${name}`),
  ...['check', 'status', 'reload'].map((name) => `catalog ${name}`),
  'models',
  'models limit',
  'prices show',
  'prices preview',
  'explain',
  'backup',
  'restore',
  'compact',
];

describe('help', () => {
  test.each(COMMANDS)('%s --help says what it does and has --json', async (name) => {
    const { exitCode, stdout, stderr } = await tollgate.run(...name.split(' '), '--help');
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toStartWith(`Usage: tollgate ${name} `);
    expect(stdout).toContain('--json');
  });

  test('the program and its groups list their commands, and the version is printed', async () => {
    const { stdout } = await tollgate.run('--help');
    for (const name of COMMANDS) expect(stdout).toContain(`  ${name.split(' ')[0]} `);
    const version = await tollgate.run('--version');
    expect([version.exitCode, version.stdout]).toEqual([
      0,
      expect.stringMatching(/^\d+\.\d+\.\d+/),
    ]);
  });
});

describe('refusals', () => {
  test.each<[string, number, string]>([
    ['', 2, 'usage'],
    ['nonsense', 2, 'usage'],
    ['account show', 2, 'usage'],
    ['account show a b', 2, 'usage'],
    ['account list --nonsense', 2, 'usage'],
    ['account create', 2, 'usage'],
    ['block add planet mars', 2, 'usage'],
    ['key revoke key_x --reason boredom', 2, 'usage'],
    ['account create --email unknown', 1, 'invalid_email'],
    ['account create --email ann@example.com', 1, 'email_taken'],
    ['account create --email b@example.com --plan gold', 1, 'unknown_plan'],
    ['account create --email b@example.com --credit -1', 1, 'invalid_amount'],
    [`account create --email b@example.com --name ${'x'.repeat(101)}`, 1, 'invalid_key_name'],
    ['account show acct_nobody', 1, 'account_not_found'],
    ['account show unknown@example.com', 1, 'account_not_found'],
    ['account credit ann@example.com 0', 1, 'invalid_amount'],
    ['account credit ann@example.com -5', 1, 'invalid_amount'],
    ['account credit ann@example.com 1000000000001', 1, 'invalid_amount'],
    ['account credit ann@example.com 999999999999.5', 1, 'ledger_refused'],
    ['account credit acct_nobody 1', 1, 'account_not_found'],
    ['account plan ann@example.com gold', 1, 'unknown_plan'],
    ['key create acct_nobody', 1, 'account_not_found'],
    ['key create ann@example.com --expires 2020-01-01', 1, 'invalid_expiry'],
    ['key create ann@example.com --expires tomorrow', 1, 'invalid_expiry'],
    ['key create ann@example.com --expires 2027-13-45', 1, 'invalid_expiry'],
    ['key revoke key_nobody', 1, 'key_not_found'],
    ['key rotate sk-abcd…wxyz', 1, 'key_not_found'],
    ['block add network example.com', 1, 'invalid_block'],
    ['block add account acct_nobody', 1, 'account_not_found'],
    ['block remove network 192.0.2.1', 1, 'block_not_found'],
    ['models limit nothing --requests-per-minute 5', 1, 'model_not_found'],
    ['models limit demo-chat', 1, 'no_limits'],
    ['models limit demo-chat --requests-per-minute 0', 1, 'invalid_number'],
    ['account grant ann@example.com 5', 2, 'usage'],
    ['account grant ann@example.com -5 --reason gift', 1, 'invalid_amount'],
    ['account credit ann@example.com 5 --reason=', 1, 'invalid_reason'],
    ['account credit ann@example.com 5 --id with\u00a0space', 1, 'invalid_credit_id'],
    ['account adjust ann@example.com 5', 2, 'usage'],
    ['account adjust ann@example.com 0 --reason none', 1, 'invalid_amount'],
    ['account adjust ann@example.com -0.0 --reason none', 1, 'invalid_amount'],
    ['account adjust ann@example.com --5 --reason none', 2, 'usage'],
    ['account adjust ann@example.com -1000000000001 --reason much', 1, 'invalid_amount'],
    ['account adjust ann@example.com -1000000.000001 --reason much', 1, 'ledger_refused'],
    ['account adjust acct_nobody -1 --reason none', 1, 'account_not_found'],
    ['code create --amount 0 --reason gift', 1, 'invalid_amount'],
    ['code create --amount 5', 2, 'usage'],
    ['code create --amount 5 --reason gift --count 0', 1, 'invalid_number'],
    ['code create --amount 5 --reason gift --count 10001', 1, 'invalid_number'],
    ['code create --amount 5 --reason gift --expires soon', 1, 'invalid_expiry'],
    ['code create --amount 5 --reason gift --expires 2020-01-01', 1, 'invalid_expiry'],
    ['code redeem TG-0000-0000-0000-0000', 2, 'usage'],
    ['code redeem TG-0000-0000-0000-0000 --account ann@example.com', 1, 'code_not_found'],
    ['code redeem TG-0000-0000-0000-0001 --account ann@example.com', 1, 'invalid_code'],
    ['code redeem TG-0000-0000-0000-0000 --account acct_nobody', 1, 'account_not_found'],
    ['code revoke 0123456789ab', 1, 'ledger_refused'],
    ['explain req_nothing', 1, 'request_not_found'],
    ['serve --port 70000', 1, 'invalid_number'],
    ['backup missing/backup.db', 1, 'file_not_writable'],
  ])('%s: exit code %d, %s', async (line, exitCode, code) => {
    const args = line === '' ? [] : line.split(' ');
    // Without a command there is nothing that --json could belong to.
    if (line === '') {
      const bare = await tollgate.run();
      expect([bare.exitCode, bare.stdout]).toEqual([exitCode, '']);
      return;
    }
    expect(await tollgate.refusal(...args)).toEqual([exitCode, code]);
  });

  test('leave nothing behind, and without --json they are one sentence', async () => {
    const list = await tollgate.json('account', 'list');
    expect(list['data']).toEqual([expect.objectContaining({ id: account.id })]);
    const { exitCode, stdout, stderr } = await tollgate.run('account', 'show', 'acct_nobody');
    expect([exitCode, stdout, stderr]).toEqual([
      1,
      '',
      'error: There is no account with this id.\n',
    ]);
  });

  test('bad settings and a bad catalog are named, without their values', async () => {
    const port = createTollgate(directory, { PORT: 'secret-value' });
    const bad = await port.run('account', 'list');
    expect([bad.exitCode, bad.stderr]).toEqual([
      1,
      'error: PORT must be a whole number from 0 to 65535.\n',
    ]);
    const catalog = createTollgate(directory, { CATALOG: 'missing.toml' });
    expect(await catalog.refusal('models')).toEqual([1, 'invalid_catalog']);
    expect(await catalog.refusal('account', 'suspend', account.id)).toEqual([1, 'invalid_catalog']);
    expect(await tollgate.json('account', 'show', account.id)).toMatchObject({
      account: { standing: 'active' },
    });
    // What stops abuse works with a broken catalog too.
    expect(await catalog.json('maintenance', 'off')).toEqual({ maintenance: false, message: null });
  });

  test('a database of a newer version and a file that is none are refused', async () => {
    writeFileSync(join(directory, 'text.db'), 'not a database, but long enough to be read as one');
    const text = createTollgate(directory, { DATABASE_URL: 'sqlite:text.db' });
    expect(await text.refusal('account', 'list')).toEqual([1, 'database_unavailable']);
    const newer = createTollgate(directory, { DATABASE_URL: 'sqlite:newer.db' });
    await newer.json('migrate');
    const database = openDatabase({ url: `sqlite:${join(directory, 'newer.db')}`, sync: 'normal' });
    database.connection.run(
      "INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('later', 9999999999999)",
    );
    await database.close();
    const { exitCode, stderr } = await newer.run('account', 'list');
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('newer version of Tollgate')]);
  });
});

test('no file of the database holds the key', () => {
  const names = readdirSync(join(directory, 'data'));
  expect(names).toContain('tollgate.db');
  for (const name of names) {
    const bytes = readFileSync(join(directory, 'data', name)).toString('latin1');
    expect(bytes.includes(key.slice(3))).toBe(false);
  }
});

test('an account changes plan, standing and balance, and a credit counts once', async () => {
  const made = await tollgate.json('account', 'create', '--email', 'carl@example.com');
  const { id } = made['account'] as typeof account;
  const change = async (...args: string[]) => {
    const changed = await tollgate.json('account', ...args);
    return changed['account'] as Record<string, unknown>;
  };
  expect(made['account']).toMatchObject({ email_verified: false, plan: { slug: 'pay-as-you-go' } });
  expect(await change('plan', id, 'power')).toMatchObject({ plan: { slug: 'power' } });
  expect(await change('verify', 'CARL@example.com')).toMatchObject({ email_verified: true });
  expect(await change('suspend', id)).toMatchObject({ standing: 'suspended' });
  expect(await change('delete', id)).toMatchObject({
    standing: 'pending_deletion',
    api_keys: { active: 1, limit: 50 },
  });
  expect(await change('activate', id)).toMatchObject({ standing: 'active' });
  const credit = ['account', 'credit', id, '12.5', '--id', 'invoice-7', '--reason', 'invoice 7'];
  const first = await tollgate.json(...credit);
  expect(first).toMatchObject({
    credit: { id: 'invoice-7', amount: '12.5', applied: true },
    account: { balance: { available: '12.5' } },
  });
  expect(await tollgate.json(...credit)).toMatchObject({
    credit: { applied: false },
    account: { balance: { available: '12.5' } },
  });
  const other = ['account', 'credit', id, '13', '--id', 'invoice-7'];
  expect(await tollgate.refusal(...other)).toEqual([1, 'ledger_refused']);
});

test('keys are created, rotated, and revoked by their text', async () => {
  const created = await tollgate.json('key', 'create', account.id, '--expires', '2099-01-31');
  expect(created['api_key']).toMatchObject({
    status: 'active',
    expires_at: '2099-01-31T00:00:00.000Z',
  });
  const rotated = await tollgate.json('key', 'rotate', String(created['key']));
  const replacement = (rotated['created'] as { key: string }).key;
  expect(rotated).toMatchObject({
    replaced: { status: 'revoked', revoked_reason: 'rotated' },
    created: { status: 'active', key: expect.stringMatching(/^sk-/) },
  });
  const graceful = await tollgate.json('key', 'rotate', replacement, '--grace', '1h');
  const successor = graceful['created'] as { id: string; key: string };
  expect(graceful).toMatchObject({
    replaced: { status: 'active', revoked_reason: null, replaced_by: successor.id },
    created: { status: 'active' },
  });
  expect(await tollgate.refusal('key', 'rotate', successor.key, '--grace', '8d')).toEqual([
    1,
    'invalid_grace',
  ]);
  await tollgate.json('key', 'revoke', successor.key);
  const revoked = await tollgate.json('key', 'revoke', replacement, '--reason', 'leak_report');
  expect(revoked['api_key']).toMatchObject({ status: 'revoked', revoked_reason: 'leak_report' });
  expect(await tollgate.refusal('key', 'rotate', replacement)).toEqual([1, 'key_not_active']);
  const list = await tollgate.json('key', 'list', 'ann@example.com');
  expect(list).toMatchObject({ object: 'list', active_count: 1, active_limit: 20 });
  expect((list['data'] as { status: string }[]).map((each) => each.status)).toEqual([
    'revoked',
    'revoked',
    'revoked',
    'active',
  ]);
  expect(JSON.stringify(list)).not.toContain(replacement.slice(7, -4));
});

test('of 20 creations at once, as many succeed as the plan has room for', async () => {
  const made = await tollgate.json('account', 'create', '--email', 'dora@example.com');
  const { id } = made['account'] as typeof account;
  const runs = await Promise.all(
    Array.from({ length: 20 }, () => tollgate.run('key', 'create', id, '--json')),
  );
  const codes = runs
    .filter((run) => run.exitCode !== 0)
    .map((run) => JSON.parse(run.stderr).error.code);
  expect(codes).toEqual(new Array(16).fill('key_limit_reached'));
  expect(await tollgate.json('key', 'list', id)).toMatchObject({ active_count: 5 });
});

test('blocks, maintenance and incident limits are switched on and off', async () => {
  await tollgate.json('block', 'add', 'account', 'ann@example.com', '--reason', 'abuse');
  await tollgate.json('block', 'add', 'key', key);
  await tollgate.json('block', 'add', 'network', '203.0.113.9/24');
  expect(await tollgate.refusal('block', 'add', 'key', key)).toEqual([1, 'already_blocked']);
  for (const record of [
    (await tollgate.json('account', 'show', 'ann@example.com'))['account'],
    ((await tollgate.json('account', 'list', '--standing', 'blocked'))['data'] as unknown[])[0],
  ]) {
    expect(record).toMatchObject({ id: account.id, standing: 'blocked' });
  }
  const list = await tollgate.json('block', 'list');
  expect((list['data'] as { kind: string; value: string }[]).map((each) => each.value)).toEqual([
    account.id,
    expect.stringMatching(/^key_/),
    '203.0.113.0/24',
  ]);
  for (const value of [account.id, key, '203.0.113.0/24']) {
    const kind = value === key ? 'key' : value === account.id ? 'account' : 'network';
    await tollgate.json('block', 'remove', kind, value);
  }
  expect(await tollgate.json('block', 'list')).toEqual({ object: 'list', data: [] });

  expect(await tollgate.json('maintenance', 'on')).toEqual({ maintenance: true, message: null });
  expect(await tollgate.json('maintenance', 'status')).toEqual({
    maintenance: true,
    message: null,
  });
  expect(await tollgate.json('maintenance', 'off')).toEqual({ maintenance: false, message: null });

  const limit = ['models', 'limit', 'demo', '--tokens-per-minute', '9000', '--reason', 'capacity'];
  expect(await tollgate.json(...limit)).toEqual({
    incident: {
      model: 'demo-chat',
      requests_per_minute: null,
      tokens_per_minute: 9000,
      concurrent_requests: null,
      reason: 'capacity',
      updated_at: expect.any(String),
    },
  });
  expect((await tollgate.run('models')).stdout).toContain('9000 tokens/min');
  const clear = ['models', 'limit', 'demo-chat', '--clear'];
  expect(await tollgate.json(...clear)).toEqual({ cleared: true });
  expect(await tollgate.json(...clear)).toEqual({ cleared: false });
});

test('a backup is a whole database of its owner alone, and never overwrites', async () => {
  const made = await tollgate.json('backup', 'copy.db');
  const path = join(directory, 'copy.db');
  expect(made).toEqual({
    backup: { file: path, bytes: statSync(path).size, integrity: 'ok', differences: 0 },
  });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(await tollgate.refusal('backup', 'copy.db')).toEqual([1, 'file_exists']);
  const copy = createTollgate(directory, { DATABASE_URL: 'sqlite:copy.db' });
  expect(await copy.json('account', 'show', account.id)).toEqual(
    await tollgate.json('account', 'show', account.id),
  );
  const none = createTollgate(directory, { DATABASE_URL: 'sqlite:none.db' });
  expect(await none.refusal('backup', 'empty.db')).toEqual([1, 'database_unavailable']);
  expect([existsSync(join(directory, 'none.db')), existsSync(join(directory, 'empty.db'))]).toEqual(
    [false, false],
  );
});
