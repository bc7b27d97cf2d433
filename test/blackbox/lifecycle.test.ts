// The life cycle of the process: first start, configuration errors at start, and its end, by a signal
// or a kill. Acknowledged results must survive it.

import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { copyFile, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { play, SAYS_HELLO } from '../support/behaviours.ts';
import { catalogFor } from '../support/catalog.ts';
import {
  type Caller,
  EVERY_FORMAT,
  generate,
  generateStream,
  get,
  openStream,
  type StreamAnswer,
} from '../support/client.ts';
import {
  type Gateway,
  gatewayCommand,
  runCommand,
  startGateway,
  type TestAccount,
} from '../support/gateway.ts';
import { openKeyed } from '../support/keyed.ts';
import { awayFromMidnight } from '../support/midnight.ts';
import { readBooks } from '../support/readable-books.ts';
import { parseEvents } from '../support/sse.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

// Each of these starts processes of its own.
setDefaultTimeout(60_000);

/** More than a test may take: one that waited for all of it would fail. */
const LONG_DRAIN = { DRAIN_SECONDS: '600' };

type Json = Record<string, unknown>;

/** Answers, or goes on with a stream that has begun, when the test says so. */
const SLOW = 'goes-on-later';
let later: PromiseWithResolvers<void>;

const MODELS = ['ok', 'stall', 'stall-before', SLOW, 'second'];

let upstream: Upstream;
let catalog: string;

beforeAll(async () => {
  upstream = await startUpstream({
    [SLOW]: (exchange) => play(SAYS_HELLO, later.promise)(exchange),
  });
  catalog = catalogFor(upstream, MODELS, {
    models: { 'stall-before': { fallbacks: ['second'] } },
  });
});

afterAll(() => upstream.close());

function start(environment: Record<string, string> = {}, more: Json = {}): Promise<Gateway> {
  return startGateway({ catalog, environment: { LOG_LEVEL: 'info', ...environment }, ...more });
}

async function inFlight(of: Caller): Promise<unknown> {
  return ((await get(of, '/v1/account')).json['usage'] as Json)['in_flight'];
}

type Books = {
  readonly open: bigint;
  readonly held: bigint;
  readonly debited: bigint;
  readonly available: bigint;
};

/** Holds and amounts of an account in 10⁻⁶ service token, read from the file itself. */
function booksOf(gateway: Gateway, accountId: string): Books {
  const database = readBooks(gateway.databasePath, { safeIntegers: true });
  try {
    const row = database
      .query<Books, [string]>(
        `select
           (select count(*) from holds where account_id = ?1 and ended_at is null) as open,
           (select coalesce(sum(amount), 0) from holds where account_id = ?1 and ended_at is null) as held,
           (select coalesce(sum(debited), 0) from usage_records where account_id = ?1) as debited,
           (select posted - held from balances where account_id = ?1) as available`,
      )
      .get(accountId);
    if (row === null) throw new Error('no such account');
    return row;
  } finally {
    database.close();
  }
}

async function ledgerCheck(gateway: Gateway): Promise<unknown> {
  const { stdout } = await runCommand(gateway.directory, {}, ['doctor', '--json']);
  const { checks } = JSON.parse(stdout) as { checks: Json[] };
  return checks.find((check) => check['name'] === 'ledger');
}

const LEDGER_OK = { name: 'ledger', ok: true, detail: 'every balance is the sum of its entries' };

/** A stream ends with the last event of its format, and its bill says that it is complete. */
function expectWhole({ events }: StreamAnswer): void {
  expect(events.at(-1)?.data).toMatch(/^\[DONE\]$|"message_stop"|"response\.completed"/);
  expect(events.map(({ data }) => data).join()).toContain('"svc_outcome":"completed"');
}

/** A stream ends with the error of a server that stops. */
function expectGatewayFailed(text: string): void {
  const events = parseEvents(text).filter(({ data }) => data !== '[DONE]');
  expect(text.includes('chat.completion.chunk')).toBe(text.endsWith('data: [DONE]\n\n'));
  expect(events.at(-1)?.json?.['error']).toMatchObject({
    code: 'provider_unavailable',
    svc_outcome: 'gateway_failed',
  });
}

test('the link for an operator leads to the console of the server that runs', async () => {
  await using gateway = await start();
  const { link } = await gateway.run('operator', 'create', 'ada@example.com');
  expect(String(link)).toStartWith(`${gateway.operatorUrl()}/operator/welcome?token=`);
});

describe('a stop', () => {
  test('is reported to the operator while a request is in progress', async () => {
    await using gateway = await start();
    const account = await gateway.createAccount();
    const console = gateway.operatorUrl();
    const before = await fetch(`${console}/readyz`);
    expect([before.status, (await fetch(`${console}/healthz`)).status]).toEqual([200, 200]);
    later = Promise.withResolvers();
    const whole = generate(account, 'chat', SLOW);
    await waitUntil(async () => (await inFlight(account)) === 1);

    const stopped = gateway.stop();
    await waitUntil(() => gateway.output().includes('draining'));
    const ready = await fetch(`${console}/readyz`);
    const { problems } = (await ready.json()) as Json;
    expect([ready.status, problems]).toEqual([503, ['draining']]);
    expect(await (await fetch(`${console}/metrics`)).text()).toContain(
      'tollgate_requests_in_flight',
    );
    later.resolve();
    expect((await whole).status).toBe(200);
    expect(await stopped).toBe(0);
  });

  test('finishes requests in progress and accepts no new ones', async () => {
    await using gateway = await start();
    const account = await gateway.createAccount();
    later = Promise.withResolvers();
    const streams = EVERY_FORMAT.map((format) => generateStream(account, format, SLOW));
    const whole = generate(account, 'chat', SLOW);
    await waitUntil(async () => (await inFlight(account)) === 4);

    const stopped = gateway.stop();
    await waitUntil(() => gateway.output().includes('draining'));
    const late = await generate(account, 'chat', 'ok').catch(() => 'no connection');
    if (typeof late !== 'string') expect(late.status).toBe(503);

    later.resolve();
    for (const stream of await Promise.all(streams)) expectWhole(stream);
    expect((await whole).status).toBe(200);
    expect(await stopped).toBe(0);
    const books = booksOf(gateway, account.id);
    // Four answers of 16.4.
    expect(books).toMatchObject({ open: 0n, held: 0n, debited: 65_600_000n });
    expect(await ledgerCheck(gateway)).toEqual(LEDGER_OK);
  });

  test('ends what is still running when the drain time is up, and settles it', async () => {
    await using gateway = await start({ DRAIN_SECONDS: '0.3' });
    const account = await gateway.createAccount({ plan: 'pro' });
    const streams = await Promise.all(
      EVERY_FORMAT.map((format) => openStream(account, format, 'stall')),
    );
    const texts = streams.map((stream) => stream.text());
    const silent = [
      generate(account, 'chat', 'stall-before'),
      generate(account, 'messages', 'stall-before', { stream: true }),
    ].map((answer) => answer.catch(() => 'no connection'));
    await waitUntil(async () => (await inFlight(account)) === 5);

    const from = performance.now();
    expect(await gateway.stop()).toBe(0);
    // The default, as if the setting were not read.
    expect(performance.now() - from).toBeLessThan(30_000);

    for (const text of await Promise.all(texts)) expectGatewayFailed(text);
    for (const answer of await Promise.all(silent)) {
      if (typeof answer !== 'string') expect(answer.status).toBe(503);
    }
    // A stop is no reason to try the fallback.
    expect(upstream.requests.some((request) => request.model === 'second')).toBe(false);
    const books = booksOf(gateway, account.id);
    expect(books).toMatchObject({ open: 0n, held: 0n });
    // What was delivered is charged, what was silent is not.
    expect(books.debited > 0n && books.debited < 100_000_000n).toBe(true);
    expect(await ledgerCheck(gateway)).toEqual(LEDGER_OK);
  });

  test('ends a stream with a key by an error and its bill', async () => {
    await using gateway = await start({ DRAIN_SECONDS: '0.3' });
    const account = await gateway.createAccount({ plan: 'pro' });
    const texts: Promise<string>[] = [];
    for (const format of EVERY_FORMAT) {
      const response = await openKeyed(account, format, 'stall', { format, stream: true });
      expect(response.status).toBe(200);
      texts.push(response.text().catch(() => 'torn'));
    }
    expect(await gateway.stop()).toBe(0);

    for (const text of await Promise.all(texts)) expectGatewayFailed(text);
    expect(booksOf(gateway, account.id)).toMatchObject({ open: 0n, held: 0n });
  });

  test('a second signal does not wait for the drain time', async () => {
    await using gateway = await start(LONG_DRAIN);
    const account = await gateway.createAccount();
    const stream = await openStream(account, 'messages', 'stall');
    const text = stream.text();
    const stopped = gateway.stop();
    await waitUntil(() => gateway.output().includes('draining 1 requests'));
    process.kill(gateway.pid, 'SIGTERM');
    expect(await stopped).toBe(0);
    expect(parseEvents(await text).at(-1)?.event).toBe('error');
    expect(booksOf(gateway, account.id).open).toBe(0n);
  });

  test('is not held up by a connection that is idle', async () => {
    await using gateway = await start(LONG_DRAIN);
    const { port, hostname } = new URL(gateway.url);
    await Bun.connect({
      hostname,
      port: Number(port),
      socket: { data() {}, error() {} },
    });
    expect(await gateway.stop()).toBe(0);
  });

  test('and a start on the same data go on where it ended', async () => {
    await awayFromMidnight();
    await using first = await start();
    const account = await first.createAccount({ credit: 1_000, plan: 'starter' });
    const more = { max_tokens: 100 };
    expect((await generate(account, 'chat', 'ok', more)).status).toBe(200);
    expect(await first.stop()).toBe(0);
    await using second = await start({}, { directory: first.directory });
    const caller = { url: second.url, key: account.key };
    const { json } = await get(caller, '/v1/account');
    expect(json).toMatchObject({
      plan: { slug: 'starter' },
      balance: { available: '983.6' },
      usage: { today: { tokens: 15 }, month: { tokens: 15 } },
    });
    const answer = await generate(caller, 'chat', 'ok', more);
    expect(answer.headers.get('x-svc-balance')).toBe('967.2');
  });
});

describe('a kill', () => {
  test('takes back no debit that a client has seen', async () => {
    await using gateway = await start({ LOG_LEVEL: 'warn' });
    const account = await gateway.createAccount({ plan: 'business' });
    let acknowledged = 0;
    let alive = true;
    const client = async (index: number): Promise<void> => {
      const format = EVERY_FORMAT[index % 3] ?? 'chat';
      while (alive) {
        const answer = await generate(account, format, 'ok', { max_tokens: 100 });
        if (answer.headers.get('x-svc-tokens-debited') === '16.4') acknowledged += 1;
      }
    };
    const clients = Array.from({ length: 8 }, (_, index) => client(index).catch(() => {}));
    const stalled = await openStream(account, 'chat', 'stall', { max_tokens: 100 });
    await waitUntil(() => acknowledged >= 100);
    await gateway.kill();
    alive = false;
    await Promise.all([...clients, stalled.text().catch(() => {})]);

    await using again = await start({}, { directory: gateway.directory });
    const { json } = await get({ url: again.url, key: account.key }, '/v1/account');
    const books = booksOf(again, account.id);
    expect(Number(books.debited)).toBeGreaterThanOrEqual(acknowledged * 16_400_000);
    // What was in progress was ended before the server listened.
    expect(books).toMatchObject({ open: 0n, held: 0n });
    await waitUntil(() => /ledger: recovered \d+ open holds/.test(again.output()));
    expect(books.available + books.debited).toBe(1_000_000_000_000n);
    expect(json['balance']).toMatchObject({
      total: String(Number(1_000_000_000_000n - books.debited) / 1e6),
    });
    expect(await ledgerCheck(again)).toEqual(LEDGER_OK);
    const answer = await generate({ url: again.url, key: account.key }, 'chat', 'ok');
    expect(answer.status).toBe(200);
  });
});

test('a server that cannot listen ends, also while it looks for a Redis that is not there', async () => {
  await using gateway = await start();
  const environment = {
    ...{ PORT: '0', DATABASE_URL: 'sqlite:./other.db', REDIS_URL: 'redis://127.0.0.1:1' },
    // An address that no machine has for itself.
    OPERATOR_HOST: '192.0.2.1',
  };
  const { code, stderr } = await runCommand(gateway.directory, environment, ['serve']);
  expect([code, stderr]).toEqual([1, expect.stringContaining('cannot listen on port')]);
});

describe('a database has one server', () => {
  test('a second one is refused, the command line works beside it, and a kill makes it free', async () => {
    await using gateway = await start();
    for (const database of ['./data/tollgate.db', './data/../data/tollgate.db']) {
      const environment = { PORT: '0', DATABASE_URL: `sqlite:${database}` };
      const second = await runCommand(gateway.directory, environment, ['serve']);
      expect([second.code, second.stdout]).toEqual([1, '']);
      expect(second.stderr).toContain('Another tollgate serves the database');
      expect(second.stderr).toContain('DATABASE_URL');
    }
    const account = await gateway.createAccount();
    expect((await generate(account, 'chat', 'ok', { max_tokens: 100 })).status).toBe(200);
    await gateway.kill();
    await using again = await start({}, { directory: gateway.directory });
    const caller = { url: again.url, key: account.key };
    expect((await generate(caller, 'chat', 'ok', { max_tokens: 100 })).status).toBe(200);
    const third = await runCommand(gateway.directory, { PORT: '0' }, ['serve']);
    expect([third.code, third.stderr.includes('Another tollgate serves')]).toEqual([1, true]);
    expect(await again.stop()).toBe(0);
  });
});

// A limit on the size of files that is lowered and lifted while the server runs is a disk that is
// full for a while; the signal that comes with it has to be ignored, which is inherited.
describe.skipIf(Bun.which('prlimit') === null)('a disk that is full', () => {
  test('refuses new requests with 503, ends running ones, and books them when it has room', async () => {
    const prefix = ['bash', '-c', `trap '' XFSZ; exec "$@"`, 'bash'];
    await using gateway = await start({ LOG_LEVEL: 'error' }, { prefix });
    const account = await gateway.createAccount();
    later = Promise.withResolvers();
    const streams = EVERY_FORMAT.map((format) => generateStream(account, format, SLOW));
    await waitUntil(() => booksOf(gateway, account.id).open === 3n);
    const limitFiles = (bytes: string) => {
      const done = Bun.spawnSync(['prlimit', '--pid', String(gateway.pid), `--fsize=${bytes}:`]);
      expect(done.exitCode).toBe(0);
    };

    limitFiles('1');
    await waitUntil(async () => {
      const refused = await generate(account, 'chat', 'ok', { max_tokens: 100 });
      if (refused.status !== 503) return false;
      expect(refused.json['error']).toMatchObject({ code: 'provider_unavailable' });
      return true;
    });
    later.resolve();
    for (const stream of await Promise.all(streams)) expectWhole(stream);
    const ready = await fetch(`${gateway.url}/readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({
      status: 'not_ready',
      problems: ['the ledger cannot be written'],
    });
    expect(booksOf(gateway, account.id).open).toBe(3n);

    limitFiles('unlimited');
    await waitUntil(() => booksOf(gateway, account.id).open === 0n);
    // Three streams of 16.4 service tokens.
    expect(booksOf(gateway, account.id)).toMatchObject({ held: 0n, debited: 49_200_000n });
    await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).status === 200);
    expect((await generate(account, 'chat', 'ok', { max_tokens: 100 })).status).toBe(200);
    expect(await ledgerCheck(gateway)).toEqual(LEDGER_OK);
    expect(await gateway.stop()).toBe(0);
  });
});

describe('the binary by itself', () => {
  test('says its version and what it can do', async () => {
    await using folder = await emptyFolder();
    const version = await runCommand(folder.path, {}, ['--version']);
    expect(version).toMatchObject({ code: 0, stderr: '' });
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\S*\n$/);
    const help = await runCommand(folder.path, {}, ['--help']);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    for (const command of ['serve', 'doctor', 'account', 'key', 'explain', 'backup']) {
      expect(help.stdout).toContain(`  ${command}`);
    }
    expect(await readdir(folder.path)).toEqual([]);
  });

  test('serves the demo from an empty directory, with nothing beside it', async () => {
    await using folder = await emptyFolder();
    const [program = ''] = gatewayCommand();
    const alone = join(folder.path, 'bin');
    await mkdir(alone);
    await copyFile(program, join(alone, 'tollgate'));
    const home = join(folder.path, 'home');
    await mkdir(home);
    const child = Bun.spawn([join(alone, 'tollgate'), 'serve', '--demo', '--port', '0'], {
      cwd: home,
      env: {},
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    try {
      let output = '';
      const decoder = new TextDecoder();
      for await (const bytes of child.stdout) {
        output += decoder.decode(bytes, { stream: true });
        if (output.includes('curl')) break;
      }
      const url = /listening on (http:\/\/\S+)/.exec(output)?.[1] ?? '';
      const key = /sk-[A-Za-z0-9]{48}/.exec(output)?.[0] ?? '';
      expect(await readdir(home)).toEqual(['data']);
      const answer = await generate({ url, key }, 'chat', 'demo-chat');
      expect(answer.status).toBe(200);
      const streamed = await generateStream({ url, key }, 'messages', 'demo-reasoner');
      expect(streamed.events.at(-1)?.event).toBe('message_stop');
      for (const path of ['/healthz', '/readyz']) {
        expect((await fetch(url + path)).status).toBe(200);
      }
    } finally {
      child.kill('SIGTERM');
    }
    expect(await child.exited).toBe(0);
  });
});

describe('a start is refused, with clear words and without the value', () => {
  const BROKEN_CATALOG = `
[[upstream]]
id = "one"
dialect = "chat"
base_url = "http://127.0.0.1:9/v1"
api_key = "canary-5533"
[[model]]
slug = "a"
context_window = 10
max_output = 5
price = { input = "free", output = "1" }
served_by = [{ upstream = "onne", model = "x" }]
`;

  type Start = {
    environment?: Record<string, string>;
    files?: Record<string, string>;
    args?: string[];
  };

  test.each<[name: string, how: Start, words: string[]]>([
    [
      'a database that cannot be reached',
      { environment: { DATABASE_URL: 'postgres://u:canary-5533@h.invalid/d' } },
      ['DATABASE_URL', 'PostgreSQL'],
    ],
    [
      'two mistakes at once',
      { environment: { LOG_LEVEL: 'canary-5533', DRAIN_SECONDS: '-1' } },
      ['LOG_LEVEL', 'DRAIN_SECONDS'],
    ],
    ['a catalog that is not there', { environment: { CATALOG: 'missing.toml' } }, ['missing.toml']],
    [
      'a broken catalog',
      { files: { 'catalog.toml': BROKEN_CATALOG } },
      ['model[0].price.input', 'model[0].served_by[0].upstream', 'did you mean one?'],
    ],
    ['a catalog that is not TOML', { files: { 'catalog.toml': 'a = [' } }, ['catalog.toml']],
    ['a misspelled setting', { files: { '.env': 'PROT=3000\n' } }, ['PROT', 'did you mean PORT?']],
    ['a port on the command line', { args: ['--port', '99999'] }, ['--port', '65535']],
    ['an option that is none', { args: ['--prot', '1'] }, ['--prot']],
  ])('%s', async (_name, how, words) => {
    await using folder = await emptyFolder();
    for (const [name, text] of Object.entries(how.files ?? {})) {
      await Bun.write(join(folder.path, name), text);
    }
    const result = await runCommand(folder.path, { PORT: '0', ...how.environment }, [
      'serve',
      ...(how.args ?? []),
    ]);
    expect(result.code).toBeGreaterThan(0);
    expect(result.stdout).toBe('');
    for (const word of words) expect(result.stderr).toContain(word);
    expect(result.stderr).not.toContain('canary-5533');
    expect(result.stderr).not.toMatch(/\n\s+at |node_modules|\$bunfs/);
    expect(await readdir(folder.path)).toEqual(Object.keys(how.files ?? {}));
  });

  test('a port that is taken', async () => {
    await using gateway = await start();
    await using folder = await emptyFolder();
    const { port } = new URL(gateway.url);
    const result = await runCommand(folder.path, {}, ['serve', '--port', port]);
    expect(result.code).toBe(1);
    expect(result.stderr).toContain(`port ${port}`);
    expect(result.stderr).toContain('in use');
    expect(result.stderr).toContain('--port');
  });

  test('a database that a newer version made', async () => {
    await using gateway = await start();
    const account: TestAccount = await gateway.createAccount();
    expect(await gateway.stop()).toBe(0);
    const database = new Database(gateway.databasePath);
    database.run('INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?, ?)', [
      'later',
      9e12,
    ]);
    database.close();
    for (const command of [['serve'], ['account', 'show', account.id]]) {
      const result = await runCommand(gateway.directory, { PORT: '0' }, command);
      expect([command, result.code]).toEqual([command, 1]);
      expect(result.stderr).toContain('migrated by a newer version of Tollgate');
    }
  });

  test('a database that is none', async () => {
    await using folder = await emptyFolder();
    await mkdir(join(folder.path, 'data'));
    await Bun.write(join(folder.path, 'data/tollgate.db'), 'This is not a database. '.repeat(200));
    const result = await runCommand(folder.path, { PORT: '0' }, ['serve']);
    expect(result.code).toBe(1);
    expect(result.stderr).toContain('database');
    expect(result.stderr).not.toMatch(/\n\s+at /);
  });
});

async function emptyFolder(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), 'tollgate-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
