// A dedicated in-memory Redis for a test: one server, a cluster of three, or a primary with a
// replica and the sentinel that watches both. A killed server restarts empty.

import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort } from './listen.ts';
import { type Service, serviceDirectory, startService } from './service.ts';
import { waitUntil } from './upstream.ts';

export type RedisServer = Service & {
  readonly url: string;
  /** Kills it and starts it again: empty. */
  readonly restart: () => Promise<void>;
  /** Sends one command in one line and resolves to the reply as it came. */
  readonly ask: (command: string) => Promise<string>;
};

export type RedisGroup = {
  readonly url: string;
  readonly servers: readonly RedisServer[];
  readonly stop: () => Promise<void>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
};

export function findRedis(): string | undefined {
  return Bun.which('redis-server') ?? undefined;
}

/** `settings` are more words of its command line, such as `['--maxmemory', '4mb']`. */
export async function startRedis(settings: readonly string[] = []): Promise<RedisServer> {
  const port = await freePort();
  const directory = await serviceDirectory('redis');
  return startServer(port, directory, [
    ...['--port', String(port), '--bind', '127.0.0.1', '--dir', directory],
    ...['--save', '', '--appendonly', 'no', '--set-proc-title', 'no', ...settings],
  ]);
}

/** Three primaries that share the hash slots. */
export async function startRedisCluster(): Promise<RedisGroup> {
  const settings = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000'];
  const servers = await Promise.all([1, 2, 3].map(() => startRedis(settings)));
  const [first] = servers;
  const slots = 16_384;
  for (const [index, server] of servers.entries()) {
    const from = Math.ceil((index * slots) / servers.length);
    const until = Math.ceil(((index + 1) * slots) / servers.length);
    const range = Array.from({ length: until - from }, (_, slot) => from + slot);
    expectOk(await server.ask(`CLUSTER ADDSLOTS ${range.join(' ')}`));
    // Nodes that agree on everything else must not claim the same epoch.
    expectOk(await server.ask(`CLUSTER SET-CONFIG-EPOCH ${index + 1}`));
    if (first !== undefined && server !== first) {
      expectOk(await server.ask(`CLUSTER MEET 127.0.0.1 ${first.port}`));
    }
  }
  const agreed = async (server: RedisServer) => {
    const info = await server.ask('CLUSTER INFO');
    return /cluster_state:ok/.test(info) && /cluster_known_nodes:3/.test(info);
  };
  await waitUntil(async () => (await Promise.all(servers.map(agreed))).every(Boolean));
  const hosts = servers.map(({ port }) => `127.0.0.1:${port}`);
  return group(`redis+cluster://${hosts.join(',')}`, servers);
}

/** The primary, its replica, the sentinel: in this order. The primary's name is `main`. */
export async function startRedisSentinel(): Promise<RedisGroup> {
  const primary = await startRedis(['--repl-diskless-sync-delay', '0']);
  const replica = await startRedis(['--replicaof', '127.0.0.1', String(primary.port)]);
  const port = await freePort();
  const directory = await serviceDirectory('sentinel');
  const settings = join(directory, 'sentinel.conf');
  await Bun.write(
    settings,
    `port ${port}
bind 127.0.0.1
dir ${directory}
sentinel monitor main 127.0.0.1 ${primary.port} 1
sentinel down-after-milliseconds main 500
sentinel failover-timeout main 3000
`,
  );
  const sentinel = await startServer(port, directory, [settings, '--sentinel']);
  const knows = async () =>
    (await replica.ask('INFO replication')).includes('master_link_status:up') &&
    (await sentinel.ask('SENTINEL REPLICAS main')).includes(`127.0.0.1:${replica.port}`);
  await waitUntil(knows);
  return group(`redis+sentinel://127.0.0.1:${port}/main`, [primary, replica, sentinel]);
}

async function startServer(
  port: number,
  directory: string,
  words: readonly string[],
): Promise<RedisServer> {
  const program = findRedis();
  if (program === undefined) throw new Error('There is no Redis. Run scripts/test once.');
  const service = await startService({
    name: 'Redis',
    port,
    directory,
    command: [program, ...words],
    isReady: async () => (await askRedis(port, 'PING')).startsWith('+PONG'),
  });
  return {
    ...service,
    url: `redis://127.0.0.1:${port}`,
    async restart() {
      await service.kill();
      await service.start();
    },
    ask: (command) => askRedis(port, command),
  };
}

/** The reply to one command; the empty text where there is no server. */
function askRedis(port: number, command: string): Promise<string> {
  return new Promise((resolve) => {
    let reply = '';
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    // A server answers what it has read before it sees the end; `QUIT` is not known to a sentinel.
    socket.on('connect', () => socket.end(`${command}\r\n`));
    socket.on('data', (bytes) => {
      reply += bytes.toString();
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(reply));
  });
}

function expectOk(reply: string): void {
  if (!reply.startsWith('+OK')) throw new Error(`Redis said: ${reply}`);
}

function group(url: string, servers: readonly RedisServer[]): RedisGroup {
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop()));
  };
  return { url, servers, stop, [Symbol.asyncDispose]: stop };
}
