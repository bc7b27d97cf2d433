// The database file of a running server is deleted, replaced, emptied or moved: the server stops
// selling, says so at once, and no start creates an empty database in its place.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { copyFileSync, existsSync, renameSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { play, SAYS_HELLO } from '../support/behaviours.ts';
import { catalogFor } from '../support/catalog.ts';
import { generate, generateStream } from '../support/client.ts';
import { held } from '../support/description.ts';
import { type Gateway, gatewayCommand, runCommand, startGateway } from '../support/gateway.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(60_000);

/** Begins an answer, and goes on when the test says so. */
const SLOW = 'goes-on-later';
let later = Promise.withResolvers<void>();

let upstream: Upstream;

beforeAll(async () => {
  upstream = await startUpstream({
    [SLOW]: (exchange) => play(SAYS_HELLO, later.promise)(exchange),
  });
});
afterAll(() => upstream.close());

const start = (environment: Record<string, string> = {}): Promise<Gateway> =>
  startGateway({ catalog: catalogFor(upstream, ['ok', SLOW]), environment });

async function ready(gateway: Gateway): Promise<{ status: number; problems: string[] }> {
  const response = held(await fetch(`${gateway.url}/readyz`), 'GET');
  const { problems } = (await response.json()) as { problems: string[] };
  return { status: response.status, problems };
}

const untilNotReady = (gateway: Gateway) =>
  waitUntil(async () => (await ready(gateway)).status === 503);

const alerts = (gateway: Gateway) =>
  gateway.output().match(/"msg":"the database file is missing or was replaced[^"]*"/g) ?? [];

const removeAll = (path: string): void => {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
};

const LOSSES: Record<string, readonly [happen: (path: string) => void, problem: RegExp]> = {
  'deleted with its log': [removeAll, /deleted/],
  deleted: [(path) => rmSync(path), /deleted/],
  'replaced by a copy': [
    (path) => {
      copyFileSync(path, `${path}.copy`);
      renameSync(`${path}.copy`, path);
    },
    /replaced/,
  ],
  emptied: [(path) => truncateSync(path, 0), /emptied/],
  'left without its log': [(path) => rmSync(`${path}-wal`), /deleted/],
};

describe('a file that is lost while it is served', () => {
  test.each(Object.entries(LOSSES))('because it was %s', async (_name, [happen, problem]) => {
    await using gateway = await start();
    const ada = await gateway.createAccount();
    expect((await generate(ada, 'chat', 'ok')).status).toBe(200);
    const before = upstream.requests.length;
    later = Promise.withResolvers();
    const running = generateStream(ada, 'chat', SLOW);
    await waitUntil(() => upstream.requests.length > before);
    happen(gateway.databasePath);
    // A write may fail before the watch has looked, so the first problem is not always this one.
    await waitUntil(async () => problem.test((await ready(gateway)).problems[0] ?? ''));

    const { status: readiness, problems } = await ready(gateway);
    expect(readiness).toBe(503);
    expect(problems[0]).toContain('stop the server, put the right file in its place');
    const asked = upstream.requests.length;
    for (const format of ['chat', 'messages'] as const) {
      const { status, json } = await generate(ada, format, 'ok');
      expect(status).toBe(503);
      expect(json).toMatchObject({ error: { code: 'provider_unavailable' } });
      expect(JSON.stringify(json)).toContain('cannot reach its books');
    }
    expect(upstream.requests.length).toBe(asked);
    // Running requests end as they would have, and the log says that its bill is not booked.
    later.resolve();
    const requestId = (await running).headers.get('x-request-id') ?? 'none';
    await waitUntil(() => gateway.output().includes(`unbooked ${requestId}: `));
    expect(gateway.output()).toContain(
      `requests running while the database file was lost: ${requestId}`,
    );
    expect(alerts(gateway)).toHaveLength(1);
    expect(alerts(gateway)[0]).toContain('1 request in progress');
  });
});

test('a file that was moved away and comes back is served again', async () => {
  await using gateway = await start();
  const ada = await gateway.createAccount();
  renameSync(gateway.databasePath, `${gateway.databasePath}.away`);
  await untilNotReady(gateway);
  renameSync(`${gateway.databasePath}.away`, gateway.databasePath);
  await waitUntil(async () => (await ready(gateway)).status === 200);
  expect((await generate(ada, 'chat', 'ok')).status).toBe(200);
  await waitUntil(() => gateway.output().includes('the database file is back in its place'));
});

describe('where there was a database', () => {
  let gateway: Gateway;

  beforeAll(async () => {
    gateway = await start();
    await gateway.createAccount();
    await gateway.stop();
    removeAll(gateway.databasePath);
  });
  afterAll(() => gateway[Symbol.asyncDispose]());

  test.each([
    'serve',
    'migrate',
    'account create --email ada@example.com',
    'operator create ada@example.com',
  ])('%s makes no empty one', async (line) => {
    const { directory, environment } = gateway;
    const { code, stderr } = await runCommand(directory, environment, line.split(' '));
    expect(code).not.toBe(0);
    expect(stderr).toContain('There is no database at');
    expect(stderr).toContain('but there was one');
    expect(stderr).toContain('tollgate serve --new');
    expect(existsSync(gateway.databasePath)).toBe(false);
  });

  test('nor does one that finds its log alone, or an empty file', async () => {
    const directory = join(gateway.directory, 'elsewhere');
    for (const left of ['tollgate.db-wal', 'tollgate.db']) {
      await Bun.write(join(directory, 'data', left), left.endsWith('wal') ? 'frames' : '');
      if (left === 'tollgate.db') await Bun.write(join(directory, 'data/tollgate.db.owner'), '');
      const { code, stderr } = await runCommand(directory, gateway.environment, ['migrate']);
      expect([code === 0, stderr]).toEqual([false, expect.stringContaining('but there was one')]);
    }
  });

  test('serve --new begins with an empty one, and only where there is none', async () => {
    const { directory, environment } = gateway;
    await using fresh = await startGateway({ directory, environment, arguments: ['--new'] });
    expect((await fresh.run('account', 'list'))['data']).toEqual([]);
    await fresh.stop();
    const child = Bun.spawn([...gatewayCommand(), 'serve', '--new'], {
      ...{ cwd: directory, env: { ...environment }, stdin: 'ignore', stdout: 'ignore' },
      stderr: 'pipe',
    });
    expect(await child.exited).toBe(1);
    expect(await child.stderr.text()).toContain('Start without --new');
  });
});
