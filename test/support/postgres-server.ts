// A dedicated PostgreSQL for a test, from Debian's packages: empty, on a free port, with byte order
// as its collation. Commits reach the operating system and survive every kill; only with `durable`
// do they reach the disk.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chown, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import postgres from 'postgres';
import { freePort } from './listen.ts';
import { runProgram } from './program.ts';
import { type Service, serviceDirectory, startService } from './service.ts';

export type PostgresServer = Service & {
  /** Of the superuser's own database. */
  readonly url: string;
  /** Makes an empty database and resolves to its URL. */
  readonly createDatabase: () => Promise<string>;
  /** `fast` ends open connections and writes all down; `immediate` is a crash that recovers. */
  readonly restart: (mode?: ShutdownMode) => Promise<void>;
  readonly shutDown: (mode?: ShutdownMode) => Promise<void>;
};

export type SharedPostgres = {
  /** Makes an empty database and resolves to its URL. */
  readonly createDatabase: () => Promise<string>;
  /** Drops the databases. */
  readonly stop: () => Promise<void>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

export type ShutdownMode = 'fast' | 'immediate';

export type PostgresOptions = {
  /** Waits for the disk at each commit, as in production. */
  readonly durable?: boolean;
  /** Encrypts connections of clients that request it; both in PEM. */
  readonly certificate?: { readonly key: string; readonly cert: string };
  /** More settings, such as `{ max_connections: '20' }`. */
  readonly settings?: Readonly<Record<string, string>>;
};

const PROGRAMS = '/usr/lib/postgresql';
const SHUTDOWN = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const;

/** The folder with Debian's newest PostgreSQL of this machine. */
export function findPostgres(): string | undefined {
  if (!existsSync(PROGRAMS)) return undefined;
  const versions = readdirSync(PROGRAMS).sort((a, b) => Number(b) - Number(a));
  return versions
    .map((version) => join(PROGRAMS, version, 'bin'))
    .find((folder) => existsSync(join(folder, 'postgres')) && existsSync(join(folder, 'initdb')));
}

export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const programs = findPostgres();
  if (programs === undefined) throw new Error('There is no PostgreSQL. Run scripts/test once.');
  const directory = await serviceDirectory('postgres');
  const asUser = await lowerPrivileges(directory);
  const data = join(directory, 'data');
  await run(directory, [
    ...[...asUser, join(programs, 'initdb'), '-D', data, '-U', 'tollgate', '-A', 'trust'],
    ...['-E', 'UTF8', '--locale=C', '--no-sync', '--no-instructions'],
  ]);
  const port = await freePort();
  const settings = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    shared_buffers: '32MB',
    max_wal_senders: '0',
    // It locks tables that tests empty, for longer than a statement may wait.
    autovacuum: 'off',
    wal_level: 'minimal',
    fsync: options.durable === true ? 'on' : 'off',
    full_page_writes: options.durable === true ? 'on' : 'off',
    timezone: 'UTC',
    log_line_prefix: '%m %p %d ',
    ...(await placeCertificate(directory, options.certificate)),
    ...options.settings,
  };
  const service = await startService({
    name: 'PostgreSQL',
    port,
    directory,
    command: [
      ...[...asUser, join(programs, 'postgres'), '-D', data],
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    isReady: async () => isReady(join(data, 'postmaster.pid')),
  });
  const url = `postgres://tollgate@127.0.0.1:${port}/postgres`;
  return {
    ...service,
    url,
    createDatabase: () => createDatabase(url),
    async restart(mode = 'fast') {
      await service.shutDown(SHUTDOWN[mode]);
      await service.start();
    },
    shutDown: (mode = 'fast') => service.shutDown(SHUTDOWN[mode]),
  };
}

let shared: Promise<string> | undefined;

/** The server that scripts/test starts for all files, or one that this file starts for itself. */
export function sharedServer(): Promise<string> {
  shared ??= Promise.resolve(
    process.env['TOLLGATE_TEST_POSTGRES'] ??
      startPostgres({ settings: { max_connections: '400' } }).then(({ url }) => url),
  );
  return shared;
}

/** Databases of one test file on the shared server, for tests that neither crash nor pause it. */
export async function sharedPostgres(): Promise<SharedPostgres> {
  const url = await sharedServer();
  const made: string[] = [];
  const stop = async () => {
    for (const each of made.splice(0)) {
      await tell(url, `drop database if exists ${nameOf(each)} with (force)`);
    }
  };
  return {
    async createDatabase() {
      const database = await createDatabase(url);
      made.push(database);
      return database;
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function createDatabase(serverUrl: string): Promise<string> {
  const url = new URL(`/test_${crypto.randomUUID().replaceAll('-', '')}`, serverUrl).href;
  await tell(serverUrl, `create database ${nameOf(url)}`);
  return url;
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1);
}

async function tell(url: string, command: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await sql.unsafe(command).finally(() => sql.end());
}

/** PostgreSQL refuses root: the words in front of a command that run it as another user. */
async function lowerPrivileges(directory: string): Promise<string[]> {
  if (process.getuid?.() !== 0) return [];
  const passwd = readFileSync('/etc/passwd', 'utf8');
  const [, user, group] = /^(?:postgres|nobody):[^:]*:(\d+):(\d+):/m.exec(passwd) ?? [];
  if (user === undefined || group === undefined) throw new Error('There is no unprivileged user.');
  await chown(directory, Number(user), Number(group));
  return ['setpriv', `--reuid=${user}`, `--regid=${group}`, '--clear-groups'];
}

/** PostgreSQL wants its key to be its own, and not readable by others. */
async function placeCertificate(
  directory: string,
  certificate: PostgresOptions['certificate'],
): Promise<Readonly<Record<string, string>>> {
  if (certificate === undefined) return {};
  const { uid, gid } = await stat(directory);
  const [ssl_cert_file, ssl_key_file] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
  await writeFile(ssl_cert_file, certificate.cert);
  await writeFile(ssl_key_file, certificate.key, { mode: 0o600 });
  for (const file of [ssl_cert_file, ssl_key_file]) await chown(file, uid, gid);
  return { ssl: 'on', ssl_cert_file, ssl_key_file };
}

/** The main process writes its state into its lock file. One of a dead process says nothing. */
function isReady(lockPath: string): boolean {
  try {
    const [pid, , , , , , , state] = readFileSync(lockPath, 'utf8').split('\n');
    return state?.trim() === 'ready' && existsSync(`/proc/${pid}`);
  } catch {
    return false;
  }
}

async function run(cwd: string, command: readonly string[]): Promise<void> {
  const { code, stderr } = await runProgram(command, { cwd });
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}: ${stderr}`);
}
