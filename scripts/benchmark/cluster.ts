// Threads and nodes: what one and two server threads take in, what PostgreSQL and Redis add to a
// request, how often a request waits for Redis, and how soon every node knows of a revoked key. Starts
// its own PostgreSQL, which waits for the disk, and its own Redis. Called by scripts/benchmark/run.ts.
//
// On a machine of two cores the load, the upstream and both servers share them with the gateway, so
// the rates say little about larger machines; the time of the processor that a request takes does.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Gateway, startGateway, type TestAccount } from '../../test/support/gateway.ts';
import { type RedisServer, startPostgres, startRedis } from '../../test/support/services.ts';
import { benchBody, benchCatalog } from './catalog.ts';
import { type Measured, runLoad } from './load.ts';
import { cpuMicroseconds, median, row, startProcess } from './machine.ts';

export type ClusterOptions = { readonly rounds: number; readonly seconds: number };

type Environment = Readonly<Record<string, string>>;

type Target = {
  readonly name: string;
  readonly gateway: Gateway;
  readonly account: TestAccount;
  /** The one that it asks. */
  readonly redis: RedisServer | undefined;
  readonly samples: Map<number, Sample[]>;
};

type Sample = Measured & { readonly cpuUs: number; readonly trips: number | undefined };

const CREDIT = 100_000_000_000;
const CONNECTIONS = [1, 64];
const WARM_UPS = 2;
const NODES = 3;
const REVOCATIONS = 40;

/** An account may make 20 keys an hour. */
const REVOCATIONS_AN_ACCOUNT = 15;

export async function benchCluster(options: ClusterOptions): Promise<void> {
  await using postgres = await startPostgres({ durable: true });
  await using redis = await startRedis();
  const upstream = await startProcess('upstream.ts', [], []);
  const catalog = benchCatalog(upstream.url);
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
  const start = (environment: Environment) => startGateway({ catalog, environment });
  try {
    const setups: readonly (readonly [string, Environment])[] = [
      ['SQLite, 1 thread', {}],
      ['SQLite, 2 threads', { WORKERS: '2' }],
      ['PostgreSQL', { DATABASE_URL: await postgres.createDatabase() }],
      [
        'PostgreSQL and Redis',
        { DATABASE_URL: await postgres.createDatabase(), REDIS_URL: redis.url },
      ],
    ];
    await using stack = new AsyncDisposableStack();
    const targets: Target[] = [];
    for (const [name, environment] of setups) {
      const gateway = stack.use(await start(environment));
      const account = await gateway.createAccount({ plan: 'bench', credit: CREDIT });
      const asks = 'REDIS_URL' in environment ? redis : undefined;
      targets.push({ name, gateway, account, redis: asks, samples: new Map() });
    }
    for (const connections of CONNECTIONS) {
      await measureAll(targets, connections, options, folder);
      printLoad(targets, connections);
    }
    await stack.disposeAsync();
    const shared = { DATABASE_URL: await postgres.createDatabase(), REDIS_URL: redis.url };
    await benchFanOut(() => start(shared));
  } finally {
    upstream.kill();
    await rm(folder, { recursive: true });
  }
}

/** Rounds are interleaved, so that a noisy neighbour hits all of them. */
async function measureAll(
  targets: readonly Target[],
  connections: number,
  { rounds, seconds }: ClusterOptions,
  folder: string,
): Promise<void> {
  for (const target of targets) target.samples.set(connections, []);
  for (let round = -WARM_UPS; round < rounds; round += 1) {
    for (const target of targets) {
      const sample = await measure(target, connections, seconds, folder);
      if (round >= 0) target.samples.get(connections)?.push(sample);
    }
  }
}

async function measure(
  { name, gateway, account, redis }: Target,
  connections: number,
  seconds: number,
  folder: string,
): Promise<Sample> {
  const load = {
    url: `${gateway.url}/v1/chat/completions`,
    body: benchBody(false),
    headers: { 'content-type': 'application/json', authorization: `Bearer ${account.key}` },
    connections,
    seconds,
  };
  const cpuBefore = cpuMicroseconds(gateway.pid);
  const tripsBefore = await tripsOf(redis);
  const measured = await runLoad(load, [], folder);
  const trips = await tripsOf(redis);
  if (measured.errors > 0) throw new Error(`${measured.errors} requests to ${name} failed`);
  const count = Math.max(1, measured.requests);
  return {
    ...measured,
    cpuUs: (cpuMicroseconds(gateway.pid) - cpuBefore) / count,
    trips:
      trips === undefined || tripsBefore === undefined ? undefined : (trips - tripsBefore) / count,
  };
}

/** Decisions that Redis was asked for so far; each is one way there and back. */
async function tripsOf(redis: RedisServer | undefined): Promise<number | undefined> {
  if (redis === undefined) return undefined;
  const stats = await redis.ask('INFO commandstats');
  const calls = [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)];
  return calls.reduce((sum, [, count]) => sum + Number(count), 0);
}

function printLoad(targets: readonly Target[], connections: number): void {
  const samplesOf = ({ samples }: Target): readonly Sample[] => samples.get(connections) ?? [];
  const of = (target: Target, read: (sample: Sample) => number): number =>
    median(samplesOf(target).map(read));
  const base = targets[0];
  const plural = connections === 1 ? 'connection' : 'connections';
  row(`whole answers, ${connections} ${plural}`, [
    ...['requests/s', 'cpu µs/request', 'p50 µs', 'p99 µs', 'added p50 µs', 'trips/request'],
  ]);
  for (const target of targets) {
    const p50 = of(target, ({ p50Us }) => p50Us);
    const added = base === undefined ? 0 : p50 - of(base, ({ p50Us }) => p50Us);
    const trips = samplesOf(target).flatMap((sample) => sample.trips ?? []);
    row(target.name, [
      of(target, ({ requests, seconds }) => requests / seconds).toFixed(0),
      of(target, ({ cpuUs }) => cpuUs).toFixed(0),
      p50.toFixed(0),
      of(target, ({ p99Us }) => p99Us).toFixed(0),
      target === base ? '' : added.toFixed(0),
      trips.length === 0 ? '' : median(trips).toFixed(4),
    ]);
  }
  process.stdout.write('\n');
}

/** From the command that revokes a key to the last node that has confirmed it. */
async function benchFanOut(start: () => Promise<Gateway>): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const nodes: Gateway[] = [];
  for (let node = 0; node < NODES; node += 1) nodes.push(stack.use(await start()));
  const [first] = nodes;
  if (first === undefined) return;
  let account = await first.createAccount({ plan: 'bench' });
  const refusedMs: number[] = [];
  const commandMs: number[] = [];
  for (let revocation = 0; revocation < REVOCATIONS; revocation += 1) {
    if ((revocation + 1) % REVOCATIONS_AN_ACCOUNT === 0) {
      account = await first.createAccount({ plan: 'bench' });
    }
    const { key } = await first.run('key', 'create', account.id);
    const caller = { ...account, key: String(key) };
    for (const node of nodes) await expectStatus(node, caller, 200);
    const startedAt = performance.now();
    const revoking = first.run('key', 'revoke', caller.key).then(() => {
      commandMs.push(performance.now() - startedAt);
    });
    await Promise.all(nodes.map((node) => refusal(node, caller)));
    refusedMs.push(performance.now() - startedAt);
    await revoking;
  }
  row(`a key is revoked, ${NODES} nodes`, ['p50 ms', 'p99 ms']);
  row('until every node refuses it', percentiles(refusedMs));
  row('until the command says so', percentiles(commandMs));
  process.stdout.write('\nBoth begin with the start of the command, which takes a process.\n\n');
}

async function expectStatus(node: Gateway, { key }: TestAccount, status: number): Promise<void> {
  const answer = await fetch(`${node.url}/v1/account`, { headers: { 'x-api-key': key } });
  await answer.bytes();
  if (answer.status !== status) throw new Error(`expected ${status}, and got ${answer.status}`);
}

async function refusal(node: Gateway, caller: TestAccount): Promise<void> {
  for (;;) {
    const answer = await fetch(`${node.url}/v1/account`, { headers: { 'x-api-key': caller.key } });
    await answer.bytes();
    if (answer.status === 401) return;
    await Bun.sleep(2);
  }
}

function percentiles(values: readonly number[]): string[] {
  const sorted = [...values].sort((a, b) => a - b);
  return [0.5, 0.99].map((share) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(0));
}
