// A server stops on request, even if its output is not read; and a failed start reports its actual
// cause.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { randomInt } from 'node:crypto';
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { catalogFor } from '../support/catalog.ts';
import { generate, openStream } from '../support/client.ts';
import { gatewayCommand, runCommand, startGateway } from '../support/gateway.ts';
import { startUpstream, type Upstream, waitUntil } from '../support/upstream.ts';

setDefaultTimeout(60_000);

/** A drain of 1 s, what is left to settle, alerts and the log. */
const STOP_MS = 12_000;

let upstream: Upstream;

beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.close());

/** A pipe that is full, and that is never read. */
async function fullPipe(directory: string): Promise<{ path: string; close: () => void }> {
  const path = join(directory, 'pipe');
  await Bun.spawn(['mkfifo', path]).exited;
  const holder = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const filler = 'x'.repeat(4_096);
  try {
    for (;;) writeSync(holder, filler);
  } catch {
    // It takes no more.
  }
  return { path, close: () => closeSync(holder) };
}

describe('a log that is not read', () => {
  async function startUnread(arguments_: readonly string[] = []) {
    const directory = await mkdtemp(join(tmpdir(), 'tollgate-'));
    const pipe = await fullPipe(directory);
    await Bun.write(join(directory, 'catalog.toml'), catalogFor(upstream, ['ok', 'stall']));
    const environment = {
      ...{ PATH: process.env['PATH'] ?? '', HOME: directory, PORT: '0' },
      DRAIN_SECONDS: '1',
    };
    const stderr = openSync(pipe.path, 'w');
    const output = join(directory, 'stdout.log');
    const stdout = openSync(output, 'w');
    const child = Bun.spawn([...gatewayCommand(), 'serve', ...arguments_], {
      ...{ cwd: directory, env: environment, stdin: 'ignore', stdout, stderr },
    });
    for (const file of [stderr, stdout]) closeSync(file);
    return {
      child,
      directory,
      environment,
      address: () => /listening on (\S+)\s/.exec(readFileSync(output, 'utf8'))?.[1],
      async [Symbol.asyncDispose]() {
        child.kill('SIGKILL');
        await child.exited;
        pipe.close();
        await rm(directory, { recursive: true });
      },
    };
  }

  test('does not keep the server from ending', async () => {
    await using server = await startUnread();
    await waitUntil(() => server.address() !== undefined, 20_000);
    const url = server.address() ?? '';
    const line = [
      'account',
      'create',
      '--email',
      'a@b.example',
      '--verified',
      '--credit',
      '1000000',
    ];
    const made = await runCommand(server.directory, server.environment, [...line, '--json']);
    const caller = { url, key: String(JSON.parse(made.stdout).key) };
    for (let count = 0; count < 5; count += 1) {
      expect((await generate(caller, 'chat', 'ok')).status).toBe(200);
    }
    const stream = await openStream(caller, 'chat', 'stall');
    const before = performance.now();
    server.child.kill('SIGTERM');
    expect(await stream.text()).toContain('[DONE]');
    expect(await server.child.exited).toBe(0);
    expect(performance.now() - before).toBeLessThan(STOP_MS);
  });

  test('does not keep one that cannot start', async () => {
    await using server = await startUnread(['--host', '192.0.2.1']);
    expect(await Promise.race([server.child.exited, Bun.sleep(STOP_MS)])).toBe(1);
  });
});

describe('a console port that is in use', () => {
  test.concurrent.each(['the default', 'a setting'])('is a warning where it is %s', async (how) => {
    const { port, neighbour } = takePortBehindAFreeOne();
    const environment: Record<string, string> =
      how === 'the default'
        ? { PORT: String(port) }
        : { PORT: '0', OPERATOR_PORT: String(neighbour.port) };
    await using gateway = await startGateway({ environment });
    const warning = expect.stringContaining(`port ${neighbour.port} of 127.0.0.1 is in use`);
    const ready = async () => {
      const response = await fetch(`${gateway.url}/readyz`);
      return [response.status, ((await response.json()) as { warnings: string[] }).warnings];
    };
    expect(await ready()).toEqual([200, [warning]]);
    expect(gateway.output()).not.toContain('operator console on');
    await waitUntil(() => gateway.output().includes('"level":"warn"'));
    expect(gateway.output()).toContain('stop what uses it, or choose another port');
    // It is tried again.
    await neighbour.stop(true);
    await waitUntil(() => gateway.output().includes('operator console on'));
    expect(await ready()).toEqual([200, []]);
    const console = `http://127.0.0.1:${neighbour.port}/operator`;
    expect((await fetch(console)).status).toBe(200);
    expect(await gateway.stop()).toBe(0);
  });

  /** A free port, and a server on the one after it. No program is given one of these by chance. */
  function takePortBehindAFreeOne() {
    const serve = (port: number) =>
      Bun.serve({ hostname: '127.0.0.1', port, fetch: () => new Response('another program') });
    for (;;) {
      const port = randomInt(20_000, 32_000);
      try {
        serve(port).stop(true);
        return { port, neighbour: serve(port + 1) };
      } catch {
        // Another program has one of them.
      }
    }
  }
});

const disk = join(tmpdir(), `tollgate-disk-${process.pid}`);
const directory = join(disk, 'gateway');
const hasDisk =
  Bun.spawnSync(['mkdir', '-p', disk]).success &&
  Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', disk]).success;

/** Needs the right to mount a disk. */
describe.skipIf(!hasDisk)('a full disk', () => {
  afterAll(() => {
    Bun.spawnSync(['umount', '-l', disk]);
    rmSync(disk, { recursive: true, force: true });
  });

  /** Takes what is left of the disk. */
  function fill(): void {
    const file = openSync(join(disk, `fill-${performance.now()}`), 'w');
    try {
      for (;;) if (writeSync(file, Buffer.alloc(4_096)) < 4_096) return;
    } catch {
      // It is full.
    } finally {
      closeSync(file);
    }
  }

  const FULL = /no space left on the device of .*tollgate\.db.* Free some and start again\./;
  const environment = { PATH: process.env['PATH'] ?? '', HOME: disk, PORT: '0' };

  function free(): void {
    for (const name of new Bun.Glob('fill-*').scanSync(disk)) rmSync(join(disk, name));
  }

  test('is said as what it is: at the first start, and at one after a crash', async () => {
    mkdirSync(directory);
    fill();
    for (const command of ['serve', 'migrate']) {
      const { code, stderr } = await runCommand(directory, environment, [command]);
      expect([code, stderr]).toEqual([1, expect.stringMatching(FULL)]);
    }
    free();

    const gateway = await startGateway({
      ...{ directory, catalog: catalogFor(upstream, ['stall']) },
      environment: { OPERATOR_PORT: 'off' },
    });
    const ada = await gateway.createAccount();
    const stream = await openStream(ada, 'chat', 'stall');
    fill();
    await gateway.kill();
    await stream.text().catch(() => undefined);
    const again = await runCommand(directory, environment, ['serve']);
    expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(FULL)]);

    free();
    await using recovered = await startGateway({ directory });
    await waitUntil(() => recovered.output().includes('recovered 1 open holds'));
    expect(await recovered.stop()).toBe(0);
  });
});
