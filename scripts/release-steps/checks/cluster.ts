// The compose file of a cluster: judged by the reference implementation of its specification, its HAProxy
// settings by HAProxy, and both by three nodes that serve behind HAProxy on this machine.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DEMO_CATALOG } from '../../../src/catalog/demo-catalog.ts';
import { freePort } from '../../../test/support/listen.ts';
import { findPostgres, startPostgres } from '../../../test/support/postgres-server.ts';
import { findRedis, startRedis } from '../../../test/support/redis-server.ts';
import { runTool } from '../tool.ts';
import { startDns } from './dns.ts';
import { unpackExecutable } from './executables.ts';
import { buy, type Check, inFolder, missing, type Release, whileServing } from './kind.ts';

const COMPOSE = 'github.com/compose-spec/compose-go/v2';
const COMPOSE_VERSION = 'v2.6.0';

export const checkCluster: readonly Check[] = [
  { name: 'the compose file is valid', run: checkCompose },
  { name: 'HAProxy accepts its settings', run: checkHaproxy },
  { name: 'a node joins and leaves a cluster behind HAProxy without a failed request', run: serve },
];

/** What an operator writes into `.env`. */
const SETTINGS = {
  POSTGRES_PASSWORD: 'password',
  SESSION_SECRET: 's'.repeat(32),
  BASE_URL: 'https://api.example.com',
};

/** Loads the file as Docker Compose does, and prints the names of its services. */
const LOADER = `package main

import (
	"context"
	"fmt"
	"os"

	"${COMPOSE}/cli"
)

func main() {
	options, err := cli.NewProjectOptions([]string{os.Args[1]}, cli.WithEnv(os.Args[2:]), cli.WithInterpolation(true))
	if err == nil {
		project, failure := cli.ProjectFromOptions(context.Background(), options)
		if failure == nil {
			fmt.Println(project.ServiceNames())
			return
		}
		err = failure
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
`;

async function checkCompose(release: Release): Promise<string | undefined> {
  const reason = missing(['go']);
  if (reason !== undefined) return reason;
  await inFolder(async (folder) => {
    const file = join(await unpack(release, folder), 'compose.yaml');
    const loader = join(folder, 'loader');
    await mkdir(loader);
    await Bun.write(join(loader, 'main.go'), LOADER);
    const options = { cwd: loader };
    await runTool(['go', 'mod', 'init', 'loader'], options);
    await runTool(['go', 'get', `${COMPOSE}/cli@${COMPOSE_VERSION}`], options);
    await runTool(['go', 'build', '-o', 'loader', '.'], options);
    const settings = Object.entries({ TOLLGATE_VERSION: release.version, ...SETTINGS });
    const words = settings.map(([name, value]) => `${name}=${value}`);
    const services = await runTool(['./loader', file, ...words], options);
    if (services.trim() !== '[database front limits node]') throw new Error(`it has ${services}`);
    const without = await runTool(['./loader', file], options).catch((error: Error) => error);
    if (typeof without === 'string') throw new Error('it starts without any setting');
  });
  return undefined;
}

async function checkHaproxy(release: Release): Promise<string | undefined> {
  const reason = missing(['haproxy']);
  if (reason !== undefined) return reason;
  await inFolder(async (folder) => {
    await runTool(['haproxy', '-c', '-f', join(await unpack(release, folder), 'haproxy.cfg')]);
  });
  return undefined;
}

const METRICS_TOKEN = 'm'.repeat(32);

/** Of the nodes, which share their ports, as containers do. */
const ADDRESSES = ['127.0.0.2', '127.0.0.3', '127.0.0.4'] as const;

async function serve(release: Release): Promise<string | undefined> {
  const reason = missing(['haproxy']);
  if (reason !== undefined) return reason;
  if (findPostgres() === undefined || findRedis() === undefined) return 'no PostgreSQL or no Redis';
  await using database = await startPostgres();
  await using limits = await startRedis();
  await inFolder(async (folder) => {
    const executable = await unpackExecutable(release, 'linux-x64', folder);
    const cluster = await unpack(release, folder);
    const [front, console, port, operatorPort] = await freePorts();
    await using dns = await startDns('node', ADDRESSES);
    const settings = replaceAll(await Bun.file(join(cluster, 'haproxy.cfg')).text(), [
      ['nameserver dns 127.0.0.11:53', `nameserver dns 127.0.0.1:${dns.port}`],
      ['bind :3000', `bind 127.0.0.1:${front}`],
      ['bind :3001', `bind 127.0.0.1:${console}`],
      ['node:3000', `node:${port}`],
      ['node:3001 check port 3000', `node:${operatorPort} check port ${port}`],
    ]);
    await Bun.write(join(cluster, 'haproxy.cfg'), settings);
    const shared = {
      ...(await nodeEnvironment(cluster)),
      ...{ DATABASE_URL: await database.createDatabase(), REDIS_URL: limits.url },
      ...{ PORT: String(port), OPERATOR_PORT: String(operatorPort), TRUSTED_PROXIES: '127.0.0.1' },
      METRICS_TOKEN,
    };
    const options = async (host: string) => {
      const cwd = join(folder, host);
      await mkdir(cwd);
      await Bun.write(join(cwd, 'catalog.toml'), DEMO_CATALOG);
      return { cwd, host, env: { ...shared, HOST: host, OPERATOR_HOST: host, HOME: cwd } };
    };
    const [first, second, third] = await Promise.all(ADDRESSES.map(options));
    if (first === undefined || second === undefined || third === undefined) return;
    const command = [executable, 'serve'];
    const proxy = ['haproxy', '-db', '-f', join(cluster, 'haproxy.cfg')];
    await whileServing(command, port, first, () =>
      whileServing(command, port, second, () =>
        whileServing(proxy, front, { stopsWith: HAPROXY_STOPPED }, async () => {
          const page = await fetch(`http://127.0.0.1:${console}/`);
          if (page.status !== 200) throw new Error(`the console answers ${page.status}`);
          const account = ['account', 'create', '--email', 'ann@example.com', '--plan', 'business'];
          const created = await runTool(
            [executable, ...account, '--credit', '1000000', '--verified', '--json'],
            first,
          );
          const load = startLoad(front, (JSON.parse(created) as { key: string }).key);
          await load.until(10);
          // Joins, is seen by HAProxy, and drains.
          await whileServing(command, port, third, () => served(`http://${third.host}:${port}`));
          await load.until(10);
          await load.stop();
        }),
      ),
    );
  });
  return undefined;
}

/** Waits until the node of this address has answered some customers. */
async function served(url: string): Promise<void> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const headers = { authorization: `Bearer ${METRICS_TOKEN}` };
    const text = await (await fetch(`${url}/metrics`, { headers })).text();
    if (/^tollgate_answers_total\{.* [1-9]\d+$/m.test(text)) return;
    if (performance.now() > deadline) throw new Error('HAProxy sent the new node no requests');
    await Bun.sleep(200);
  }
}

/** In a process without a master, HAProxy is ended by the signal itself. */
const HAPROXY_STOPPED = [143];

async function freePorts(): Promise<[number, number, number, number]> {
  return [await freePort(), await freePort(), await freePort(), await freePort()];
}

/** Replaces each text where it stands. Throws where it does not. */
function replaceAll(text: string, pairs: readonly (readonly [string, string])[]): string {
  let changed = text;
  for (const [from, to] of pairs) {
    if (!changed.includes(from)) throw new Error(`it has no '${from}'`);
    changed = changed.replaceAll(from, to);
  }
  return changed;
}

/** The variables that the compose file gives each node. */
async function nodeEnvironment(cluster: string): Promise<Record<string, string>> {
  const file = Bun.YAML.parse(await Bun.file(join(cluster, 'compose.yaml')).text()) as {
    readonly services: { readonly node: { readonly environment: Record<string, string> } };
  };
  const filled = Object.entries(file.services.node.environment).map(([name, value]) => [
    name,
    value.replaceAll(/\$\{(\w+)[^}]*\}/g, (_, of: keyof typeof SETTINGS) => SETTINGS[of]),
  ]);
  return Object.fromEntries(filled);
}

/** Customers that request one answer after the other. `stop` throws where one was not charged. */
function startLoad(port: number, key: string) {
  const failures: unknown[] = [];
  let answers = 0;
  let isStopped = false;
  const customers = Array.from({ length: 4 }, async () => {
    while (!isStopped && failures.length === 0) {
      await buy(port, key).then(
        () => (answers += 1),
        (error) => failures.push(error),
      );
    }
  });
  return {
    /** Resolves after so many more answers, or at the first failure. */
    async until(more: number): Promise<void> {
      const wanted = answers + more;
      while (answers < wanted && failures.length === 0) await Bun.sleep(20);
    },
    async stop(): Promise<void> {
      isStopped = true;
      await Promise.all(customers);
      if (failures.length > 0) throw failures[0];
    },
  };
}

async function unpack({ folder, version }: Release, into: string): Promise<string> {
  const name = `tollgate-${version}-cluster`;
  await runTool(['tar', '-xzf', join(folder, `${name}.tar.gz`), '-C', into]);
  return join(into, name);
}
