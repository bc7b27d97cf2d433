// `doctor` and `explain` over valid and damaged databases.

import { expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { micro, pico, tokenCount, usdRate } from '../../src/core/money.ts';
import type { Price } from '../../src/core/price.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { openDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';
import { MIGRATIONS } from '../../src/store/migrations.ts';
import { temporaryDirectory } from '../support/database.ts';
import { createTollgate } from './tollgate.ts';

// A child process a command takes its time on a machine that is busy with other things.
setDefaultTimeout(60_000);

const directory = temporaryDirectory();
const tollgate = createTollgate(directory);
const path = join(directory, 'data', 'tollgate.db');

type Checks = readonly { readonly name: string; readonly ok: boolean; readonly detail: string }[];

async function wrongChecks(environment: Record<string, string> = {}): Promise<unknown> {
  const { exitCode, stdout } = await createTollgate(directory, environment).run('doctor', '--json');
  const { ok, checks }: { ok: boolean; checks: Checks } = JSON.parse(stdout);
  expect([ok, exitCode]).toEqual(ok ? [true, 0] : [false, 1]);
  return checks.filter((check) => !check.ok).map((check) => [check.name, check.detail]);
}

test('explain shows how a charge came about, and doctor finds nothing wrong', async () => {
  const made = await tollgate.json(
    ...['account', 'create', '--email', 'ann@example.com', '--credit', '1000'],
  );
  const { id: accountId } = made['account'] as { id: string };
  const price = (version: string, input: bigint): Price => {
    return {
      version,
      input: pico(input),
      cachedInput: pico(30_000_000_000n),
      cacheWrite: pico(input),
      output: pico(600_000_000_001n),
    };
  };
  const requested = price('price_a', 150_000_000_000n);
  const served = price('price_b', 140_000_000_000n);
  const database = openDatabase({ url: `sqlite:${path}`, sync: 'normal' });
  const ledger = createLedger({ database });
  const now = Date.now();
  await ledger.hold({
    requestId: 'req_one',
    accountId,
    keyId: 'key_one',
    format: 'chat',
    stream: true,
    model: 'swift-1',
    price: requested,
    amount: micro(50_000_000n),
    promptTokens: tokenCount(90),
    outputBound: tokenCount(64),
    nowMs: now,
  });
  expect((await tollgate.run('explain', 'req_one')).stdout).toContain('still running');
  await ledger.settle({
    requestId: 'req_one',
    served: { model: 'swift-0', upstream: 'second', price: served },
    outcome: 'completed',
    usage: {
      inputTokens: 100,
      cachedInputTokens: 40,
      cacheWriteTokens: 0,
      outputTokens: 10,
      reasoningTokens: 4,
      basis: 'reported',
    },
    attempts: JSON.stringify([
      { upstream: 'first', model: 'swift-1', startedAt: now, endedAt: now + 7, failure: 'timeout' },
      { upstream: 'second', model: 'swift-0', startedAt: now + 7, endedAt: now + 30 },
    ]),
    usdPerMillion: usdRate(1_000_000n),
    nowMs: now + 30,
    charge: micro(15_600_000n),
  });
  await ledger.close();
  await database.close();

  const story = await tollgate.json('explain', 'req_one');
  expect(story).toMatchObject({
    request_id: 'req_one',
    account_id: accountId,
    hold: { phase: 'settled', amount: '50', price_version: 'price_a' },
    model: { requested: 'swift-1', served: 'swift-0' },
    request: { format: 'chat', stream: true, upstream: 'second', outcome: 'completed' },
    usage: { basis: 'reported', input_tokens: 100, cached_input_tokens: 40, output_tokens: 10 },
    calculations: [
      { price_version: 'price_a', used_for: 'requested', exact: '16.20000000001', rounded: '16.2' },
      {
        price_version: 'price_b',
        used_for: 'served',
        buckets: [
          { name: 'input', tokens: 60, price: '0.14', amount: '8.4' },
          { name: 'cached_input', tokens: 40, price: '0.03', amount: '1.2' },
          { name: 'cache_write', tokens: 0, price: '0.14', amount: '0' },
          { name: 'output', tokens: 10, price: '0.600000000001', amount: '6.00000000001' },
        ],
        exact: '15.60000000001',
        rounded: '15.6',
      },
    ],
    booked: { charged: '15.6', debited: '15.6', loss: '0', balance_after: '984.4' },
  });
  const { stdout } = await tollgate.run('explain', 'req_one');
  expect(stdout).toContain('total 15.60000000001, rounded half up to 15.6');
  expect(stdout).toContain('Attempt 1: first, swift-1');
  expect(stdout).toContain('7 ms, timeout');
  expect(stdout).toContain('The lower of the two is charged.');
  expect(await wrongChecks()).toEqual([]);
});

test('doctor names a trigger that was dropped', async () => {
  const { connection, close } = openDatabase({ url: `sqlite:${path}`, sync: 'normal' });
  const { sql } = connection
    .query<{ sql: string }, []>("select sql from sqlite_schema where name = 'requests_no_update'")
    .get() ?? { sql: '' };
  connection.run('drop trigger requests_no_update');
  expect(await wrongChecks()).toContainEqual([
    'migrations',
    'triggers were dropped (requests_no_update); restore a backup',
  ]);
  connection.run(sql);
  await close();
});

test('doctor names a missing database and does not make one', async () => {
  const wrong = await wrongChecks({ DATABASE_URL: 'sqlite:nowhere/none.db' });
  const detail = `There is no database at ${join(directory, 'nowhere/none.db')}.`;
  expect(wrong).toEqual(
    [
      'database',
      'migrations',
      'ledger',
      'clock',
      'plans of accounts',
      'kept thinking',
      'kept answers',
    ].map((name) => [name, detail]),
  );
});

test('doctor names a port that something else has, bad settings and a bad catalog', async () => {
  const other = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } });
  expect(await wrongChecks({ PORT: String(other.port) })).toEqual([
    ['port', expect.stringContaining(`${other.port} cannot be used`)],
  ]);
  other.stop(true);
  expect(await wrongChecks({ CATALOG: 'missing.toml' })).toEqual([
    ['plans of accounts', expect.stringContaining('missing.toml')],
    ['catalog', expect.stringContaining('missing.toml')],
    ['upstream profiles', expect.stringContaining('missing.toml')],
    ['upstream secrets', expect.stringContaining('missing.toml')],
  ]);
  const names = (await wrongChecks({ LOG_LEVEL: 'loud' })) as [string, string][];
  expect(names[0]).toEqual(['configuration', expect.stringContaining('LOG_LEVEL')]);
});

test('doctor before a start accepts a database that is new or older, and nothing newer', async () => {
  const before = async (url: string): Promise<unknown> => {
    const environment = { DATABASE_URL: url };
    const { exitCode, stdout } = await createTollgate(directory, environment).run(
      ...['doctor', '--before-start', '--json'],
    );
    const { checks }: { checks: Checks } = JSON.parse(stdout);
    const details = checks
      .filter(({ name }) => name === 'database' || name === 'migrations')
      .map(({ detail }) => detail);
    return [exitCode, ...details];
  };
  expect(await before('sqlite:nowhere/none.db')).toEqual([
    0,
    'made by this start',
    'made by this start',
  ]);
  expect(existsSync(join(directory, 'nowhere'))).toBe(false);
  const tags = MIGRATIONS.sqlite.map(({ tag }) => tag);
  const database = openDatabase({ url: `sqlite:${join(directory, 'older.db')}`, sync: 'normal' });
  await migrate(database, []);
  expect(await before('sqlite:older.db')).toEqual([
    0,
    'writable',
    `this start applies ${tags.join(', ')}`,
  ]);
  await migrate(database);
  expect(await before('sqlite:older.db')).toEqual([0, 'writable', `all ${tags.length} applied`]);
  const later = { tag: '9999_later', when: 9_999_999_999_999, sql: 'CREATE TABLE later (id text)' };
  await migrate(database, [...MIGRATIONS.sqlite, later]);
  await database.close();
  expect(await before('sqlite:older.db')).toEqual([
    1,
    'writable',
    expect.stringContaining('newer version'),
  ]);
});

test('doctor before a start leaves out the audit of the books, and finds bad settings', async () => {
  const run = async (environment: Record<string, string>) => {
    const { exitCode, stdout } = await createTollgate(directory, environment).run(
      ...['doctor', '--before-start', '--json'],
    );
    const { checks }: { checks: Checks } = JSON.parse(stdout);
    return { exitCode, names: checks.map(({ name }) => name) };
  };
  expect((await run({})).names).not.toContain('ledger');
  expect((await run({ LOG_LEVEL: 'loud' })).exitCode).toBe(1);
  expect((await run({ CATALOG: 'missing.toml' })).exitCode).toBe(1);
});

test('health asks the server of the settings, and readiness on request, without a proxy', async () => {
  await using proxy = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('') });
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: ({ url }) => new Response('', { status: url.endsWith('/healthz') ? 200 : 503 }),
  });
  const at = createTollgate(directory, {
    ...{ PORT: String(server.port), HOST: '0.0.0.0', HTTP_PROXY: proxy.url.origin },
  });
  expect((await at.run('health')).exitCode).toBe(0);
  expect((await at.run('health', '--ready')).exitCode).toBe(1);
  await server.stop(true);
  expect((await at.run('health')).exitCode).toBe(1);
  expect(await tollgate.refusal('health')).toEqual([1, 'no_port']);
});

test('doctor shows which profile each upstream has', async () => {
  const upstream = (id: string, rest: string): string =>
    `[[upstream]]\nid = "${id}"\nbase_url = "http://127.0.0.1:9"\n${rest}\n`;
  await Bun.write(
    join(directory, 'profiles.toml'),
    `${upstream('one', 'dialect = "chat"')}${upstream('two', 'dialect = "messages"')}
    ${upstream('three', 'dialect = "chat"\nprofile = "mine"\napi_key = "k"')}
    [[upstream]]
    id = "four"
    dialect = "demo"
    [profile.mine]
    base = "vllm"
    [[model]]
    slug = "m"
    context_window = 1
    max_output = 1
    price = { input = 0, output = 0 }
    served_by = [{ upstream = "four", model = "m" }]
    ${upstream('five', 'profile = "anthropic"\napi_key = "k"')}
    [[model]]
    slug = "opus"
    context_window = 1
    max_output = 1
    price = { input = 0, output = 0 }
    served_by = [{ upstream = "five", model = "claude-opus-5-5" }]`,
  );
  const tollgate = createTollgate(directory, { CATALOG: 'profiles.toml' });
  const { stdout } = await tollgate.run('doctor');
  expect(stdout).toMatch(
    /ok +upstream profiles +one: chat, two: messages, three: mine, four: none, five: anthropic \(opus: anthropic-5\.5\)$/m,
  );
  expect(stdout).toMatch(/ok +upstream secrets +none for one, two, which is right/m);
  const check = await tollgate.run('catalog', 'check');
  expect(check.stdout).toContain(
    'profile: opus at five (claude-opus-5-5) has anthropic-5.5: Claude models since Fable 5.1',
  );
  const { stdout: json } = await tollgate.run('catalog', 'check', '--json');
  expect(JSON.parse(json)).toMatchObject({
    profiles: [{ model: 'opus', upstream: 'five', profile: 'anthropic-5.5' }],
    warnings: [],
  });
});

test('doctor accepts a port where a server of ours answers', async () => {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('ok') });
  expect(await wrongChecks({ PORT: String(server.port) })).toEqual([]);
  await server.stop(true);
});

test('doctor names what is pending and every difference in the books', async () => {
  const database = openDatabase({ url: `sqlite:${path}`, sync: 'normal' });
  database.connection.run('UPDATE balances SET posted = posted + 1500000');
  database.connection.run('UPDATE accounts SET created_at = created_at + 3600000');
  await database.close();
  expect(await wrongChecks()).toEqual([
    [
      'ledger',
      expect.stringMatching(
        /^2 differences: chain of (acct_\w+): its last receipt leaves 984\.4, and 985\.9 is posted; posted of \1: its entries sum to 984\.4, and 985\.9 is posted$/,
      ),
    ],
    ['clock', expect.stringMatching(/^3\d\d\d seconds behind the newest record; set the clock$/)],
  ]);
});
