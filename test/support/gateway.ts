// Starts a real gateway in its own folder: the executable in dist/, the one that
// TOLLGATE_TEST_BINARY names, or, with TOLLGATE_TEST_SOURCE=1, the source. Tests use its socket and
// its command line.

import { afterAll } from 'bun:test';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Caller } from './client.ts';
import { testDialect } from './database.ts';
import { newPostgresUrl } from './postgres-database.ts';
import { type ProgramResult, runProgram } from './program.ts';

const root = resolve(import.meta.dir, '../..');

export type GatewayOptions = {
  /** The text of catalog.toml; see catalogFor. Absent: the built-in demo catalog. */
  readonly catalog?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** A folder that an earlier gateway has used, to start again on its data. */
  readonly directory?: string;
  /** More arguments of `serve`. */
  readonly arguments?: readonly string[];
  /** What the server is started with, such as `['taskset', '-c', '0']`. */
  readonly prefix?: readonly string[];
  /** Another executable than the one that the build left. */
  readonly binary?: string;
  /** A module that runs before the program. The source is run then: the executable takes none. */
  readonly preload?: string;
};

export type AccountOptions = {
  readonly email?: string;
  readonly plan?: string;
  /** In service tokens; 1,000,000 by default. */
  readonly credit?: number | string;
  /** True by default. */
  readonly verified?: boolean;
};

/** An account, and what a client needs to call the gateway as it. */
export type TestAccount = Caller & { readonly id: string; readonly email: string };

export type Gateway = {
  readonly url: string;
  /** Where the operator's console listens, without its prefix; throws where there is none. */
  readonly operatorUrl: () => string;
  readonly pid: number;
  readonly directory: string;
  readonly databasePath: string;
  /** What it was started with, for commands beside it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Runs a command beside the server and returns what it printed as JSON; throws when it fails. */
  readonly run: (...args: readonly string[]) => Promise<Record<string, unknown>>;
  readonly createAccount: (options?: AccountOptions) => Promise<TestAccount>;
  readonly writeCatalog: (text: string) => Promise<void>;
  /** Everything the server has printed so far, both streams. */
  readonly output: () => string;
  /** SIGTERM; resolves to the exit code. The data stays until the gateway is disposed of. */
  readonly stop: () => Promise<number>;
  /** SIGKILL, as a crash. */
  readonly kill: () => Promise<void>;
  /** Kills the server where it still runs and removes the folder. */
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

/** How the gateway is run: an executable, dist/ by default, or the source in this Bun. */
export function gatewayCommand(preload?: string, binary?: string): string[] {
  const program = join(root, 'src/main.ts');
  if (binary !== undefined) return [binary];
  if (preload !== undefined) return [process.execPath, '--preload', preload, program];
  if (process.env['TOLLGATE_TEST_SOURCE'] === '1') return [process.execPath, program];
  return [process.env['TOLLGATE_TEST_BINARY'] ?? join(root, 'dist/tollgate')];
}

/** The databases of PostgreSQL by the folder of their gateway. */
const databases = new Map<string, string>();

/** The same tests, over PostgreSQL. */
async function testDatabase(directory: string): Promise<Record<string, string>> {
  if (testDialect() === 'sqlite') return {};
  const url = databases.get(directory) ?? (await newPostgresUrl());
  databases.set(directory, url);
  return { DATABASE_URL: url, SESSION_SECRET: 'one secret of all nodes of these tests' };
}

/** Starts a gateway and waits until it has printed its address. */
export async function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'tollgate-')));
  const writeCatalog = async (text: string) => {
    await Bun.write(join(directory, 'catalog.toml'), text);
  };
  if (options.catalog !== undefined) await writeCatalog(options.catalog);
  const environment = {
    PATH: process.env['PATH'] ?? '',
    HOME: directory,
    HOST: '127.0.0.1',
    PORT: '0',
    ...(await testDatabase(directory)),
    ...options.environment,
  };
  const command = [
    ...(options.prefix ?? []),
    ...gatewayCommand(options.preload, options.binary),
    'serve',
  ];
  // A file and not a pipe: a server that logs much must never wait for the test to read.
  const outputPath = join(directory, `output-${performance.now()}.log`);
  const outputFile = openSync(outputPath, 'w');
  const child = Bun.spawn([...command, ...(options.arguments ?? [])], {
    cwd: directory,
    env: environment,
    stdin: 'ignore',
    stdout: outputFile,
    stderr: outputFile,
  });
  closeSync(outputFile);
  const output = () => readFileSync(outputPath, 'utf8');
  const url = await waitForAddress(child, output).catch(async (error: unknown) => {
    if (options.directory === undefined) await rm(directory, { recursive: true });
    throw error;
  });

  async function run(...args: readonly string[]): Promise<Record<string, unknown>> {
    const line = [...args, '--json'];
    const result = await runCommand(directory, environment, line, options);
    if (result.code !== 0) {
      throw new Error(`tollgate ${args.join(' ')} ended with ${result.code}: ${result.stderr}`);
    }
    return JSON.parse(result.stdout);
  }

  async function createAccount(account: AccountOptions = {}): Promise<TestAccount> {
    const email = account.email ?? `${crypto.randomUUID()}@example.com`;
    const args = ['account', 'create', '--email', email];
    if (account.plan !== undefined) args.push('--plan', account.plan);
    if (account.verified !== false) args.push('--verified');
    args.push('--credit', String(account.credit ?? 1_000_000));
    const created = await run(...args);
    const record = created['account'] as { readonly id: string };
    return { url, id: record.id, email, key: String(created['key']) };
  }

  async function stop(): Promise<number> {
    child.kill('SIGTERM');
    return child.exited;
  }

  async function kill(): Promise<void> {
    child.kill('SIGKILL');
    await child.exited;
  }

  return {
    url,
    operatorUrl() {
      const address = /operator console on (http:\/\/[^/\s]+)\/operator\s/.exec(output())?.[1];
      if (address === undefined) throw new Error(`the gateway has no console: ${output()}`);
      return address;
    },
    pid: child.pid,
    directory,
    databasePath: join(directory, 'data/tollgate.db'),
    environment,
    run,
    createAccount,
    writeCatalog,
    output,
    stop,
    kill,
    [Symbol.asyncDispose]: async () => {
      await kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

type Opened = AsyncDisposable | { readonly close: () => unknown } | undefined;

/**
 * After all tests of the calling file or group, closes what they have opened, the last one first.
 * A start that failed has left something undefined.
 */
export function closeAtEnd(opened: () => readonly Opened[]): void {
  afterAll(async () => {
    await using stack = new AsyncDisposableStack();
    for (const each of opened()) {
      if (each === undefined) continue;
      stack.defer(async () => {
        await ('close' in each ? each.close() : each[Symbol.asyncDispose]());
      });
    }
  });
}

/** Runs one command of the gateway's command line in `directory`, with any exit code. */
export async function runCommand(
  directory: string,
  environment: Readonly<Record<string, string>>,
  args: readonly string[],
  { preload, binary }: Pick<GatewayOptions, 'preload' | 'binary'> = {},
): Promise<ProgramResult> {
  return runProgram([...gatewayCommand(preload, binary), ...args], {
    cwd: directory,
    env: environment,
  });
}

const START_MS = 20_000;

/** Waits until the server has printed its address; fails when it ends or takes too long. */
async function waitForAddress(child: Bun.Subprocess, output: () => string): Promise<string> {
  const deadline = Date.now() + START_MS;
  while (true) {
    const printed = output();
    const address = /tollgate listening on (http:\/\/\S+)\s/.exec(printed)?.[1];
    if (address !== undefined) return address;
    if (child.exitCode !== null) {
      throw new Error(`the gateway ended with ${child.exitCode} before it listened: ${printed}`);
    }
    if (Date.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`the gateway printed no address within ${START_MS} ms: ${printed}`);
    }
    await Bun.sleep(5);
  }
}
