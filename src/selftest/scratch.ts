// A gateway of its own for the self-test: this executable in a new folder, with a database, a
// catalog and ports that nothing else uses. No setting of the operator reaches it.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemVariables } from '../server/runtime.ts';
import type { Caller } from './answer.ts';
import { RECORDINGS } from './recordings.ts';
import { FAST_MODEL, type Part, SLOW_MODEL } from './upstream.ts';

const START_MS = 30_000;
const COMMAND_MS = 120_000;

/** In service tokens. */
export const CREDIT = 1_000_000_000;

export type Process = {
  readonly url: string;
  /** SIGKILL; resolves when it is gone. */
  readonly kill: () => Promise<void>;
};

export type Scratch = {
  readonly directory: string;
  readonly database: string;
  /** Starts the gateway on what an earlier one has left. */
  readonly start: () => Promise<Process>;
  readonly startPart: (part: Part, target?: string) => Promise<Process>;
  /** Runs a command on the scratch database. Returns its JSON, with any exit code. */
  readonly run: (...args: readonly string[]) => Promise<Record<string, unknown>>;
  readonly createAccount: (email: string, credit: number) => Promise<string>;
  readonly callerOf: (gateway: Process, key: string) => Caller;
  /** Kills what runs and removes the folder. */
  readonly close: () => Promise<void>;
};

/** `command` starts the program. The upstream starts first, because the catalog has its address. */
export async function openScratch(
  command: readonly string[],
  commandMs = COMMAND_MS,
): Promise<Scratch & { readonly upstream: Process }> {
  const stopListening = onSignal(() => close());
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-selftest-'));
  const environment = {
    ...systemVariables(),
    HOST: '127.0.0.1',
    PORT: '0',
    OPERATOR_PORT: 'off',
    LOG_LEVEL: 'error',
    CATALOG: 'catalog.toml',
    DATABASE_URL: 'sqlite:./data/tollgate.db',
    TOLLGATE_ENV_FILE: '/dev/null',
  };
  const running = new Set<Bun.Subprocess>();
  let isClosed = false;

  function requireOpen(): void {
    if (isClosed) throw new Error('the self-test has ended');
  }

  async function launch(args: readonly string[], marker: RegExp): Promise<Process> {
    requireOpen();
    const child = Bun.spawn([...command, ...args], {
      cwd: directory,
      env: environment,
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: Bun.file(join(directory, 'errors.log')),
    });
    running.add(child);
    const kill = async (): Promise<void> => {
      running.delete(child);
      child.kill('SIGKILL');
      await child.exited;
    };
    const timer = setTimeout(() => child.kill('SIGKILL'), START_MS);
    const url = await findAddress(child.stdout, marker);
    clearTimeout(timer);
    if (url === undefined) throw new Error(`tollgate ${args.join(' ')} did not start`);
    return { url, kill };
  }

  async function run(...args: readonly string[]): Promise<Record<string, unknown>> {
    requireOpen();
    const child = Bun.spawn([...command, ...args, '--json'], {
      cwd: directory,
      env: environment,
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      timeout: commandMs,
      killSignal: 'SIGKILL',
    });
    running.add(child);
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    await child.exited;
    running.delete(child);
    const isKilled = child.signalCode !== null;
    const error = isKilled ? `was killed; it may take ${commandMs / 1_000} s` : stderr.trim();
    if (isKilled || stdout === '') throw new Error(`tollgate ${args.join(' ')}: ${error}`);
    return JSON.parse(stdout);
  }

  const startPart = (part: Part, target = ''): Promise<Process> =>
    launch(['selftest', '--part', part, '--target', target], /listening on (http:\S+)\n/);

  async function close(): Promise<void> {
    isClosed = true;
    for (const child of running) child.kill('SIGKILL');
    await Promise.all([...running].map(({ exited }) => exited));
    rmSync(directory, { recursive: true, force: true });
    stopListening();
  }

  try {
    const upstream = await startPart('upstream');
    writeFileSync(join(directory, 'catalog.toml'), catalog(upstream.url));
    return {
      directory,
      database: join(directory, 'data/tollgate.db'),
      upstream,
      start: () => launch(['serve', '--while-input'], /tollgate listening on (http:\S+)\n/),
      startPart,
      run,
      async createAccount(email, credit) {
        const created = await run(
          'account',
          'create',
          '--email',
          email,
          '--plan',
          'selftest',
          '--verified',
          '--credit',
          String(credit),
        );
        return String(created['key']);
      },
      callerOf: ({ url }, key) => ({ url, key }),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Ends the process by a signal only once it has cleared up. Returns a function that undoes this. */
function onSignal(clearUp: () => Promise<void>): () => void {
  const ends = (['SIGHUP', 'SIGINT', 'SIGTERM'] as const).map((signal) => {
    const code = 128 + constants.signals[signal];
    return [signal, () => void clearUp().finally(() => process.exit(code))] as const;
  });
  for (const [signal, end] of ends) process.once(signal, end);
  return () => {
    for (const [signal, end] of ends) process.off(signal, end);
  };
}

async function findAddress(
  output: ReadableStream<Uint8Array>,
  marker: RegExp,
): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of output) {
    text += decoder.decode(bytes);
    const url = marker.exec(text)?.[1];
    if (url !== undefined) return url;
  }
  return undefined;
}

/** Prices that make charges easy to compute: 1, 0.1 and 2 service tokens. */
function catalog(upstream: string): string {
  const models = [
    ...RECORDINGS.map(({ name, dialect }) => ({ slug: name, dialect })),
    ...[SLOW_MODEL, FAST_MODEL].map((slug) => ({ slug, dialect: 'chat' as const })),
  ];
  return [
    '[service]\nusd_per_million = "1.00"\n',
    `[[upstream]]\nid = "chat"\ndialect = "chat"\nbase_url = "${upstream}/v1"\napi_key = "selftest"\n`,
    `[[upstream]]\nid = "responses"\ndialect = "responses"\nbase_url = "${upstream}/v1"\napi_key = "selftest"\n`,
    `[[upstream]]\nid = "messages"\ndialect = "messages"\nbase_url = "${upstream}"\napi_key = "selftest"\n`,
    ...models.map(
      ({ slug, dialect }) => `[[model]]
slug = "${slug}"
context_window = 128000
max_output = 8192
features = ["tools", "json", "reasoning"]
price = { input = "1", cached_input = "0.1", output = "2" }
served_by = [{ upstream = "${dialect}", model = "${slug}" }]
`,
    ),
    `[plan.selftest]
requests_per_minute = 1000000
tokens_per_minute = 1000000000
concurrent_requests = 1000
max_context = 128000
max_api_keys = 10
`,
  ].join('\n');
}
