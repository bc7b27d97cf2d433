// `scripts/bench`: measures the gateway (the executable in dist/, every feature on, money on disk)
// against B, a bare forwarder on the same Bun, and D, the upstream without anything before it.
// Rounds are interleaved and ratios are taken a round, so a noisy neighbour hits all of them.
// Gateway and forwarder run on core 0, load and upstream on core 1.
//
// The ledger is measured by itself as well, in ledger.ts, what failures cost in failing.ts, and the
// pages over a million requests in dashboard.ts; that one takes minutes, and runs when it is asked.
// So does cluster.ts, which starts PostgreSQL and Redis: threads, nodes and what stands between them.
//
//   scripts/bench [--rounds 3] [--seconds 1] [--connections 64] [--yardstick]
//                 [--only ledger|gateway|failing|dashboard|cluster] [--requests 1000000]

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Gateway, startGateway, type TestAccount } from '../../test/support/gateway.ts';
import { benchBody, benchCatalog, PRICE } from './catalog.ts';
import { benchCluster } from './cluster.ts';
import { benchDashboard } from './dashboard.ts';
import { benchFailing } from './failing.ts';
import { benchLedger } from './ledger.ts';
import { type Load, type Measured, runLoad } from './load.ts';
import { cpuMicroseconds, median, pin, residentMegabytes, row, startProcess } from './machine.ts';
import { REPORTED } from './upstream.ts';

const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '64' },
    /** Measures B and D alone. */
    yardstick: { type: 'boolean', default: false },
    /** `ledger`, `gateway`, `failing`, `dashboard` or `cluster`: that one alone. */
    only: { type: 'string' },
    /** In the past of `dashboard`. */
    requests: { type: 'string', default: '1000000' },
  },
});

const CREDIT = 100_000_000_000;
type Kind = 'whole' | 'stream';
type Scenario = { readonly kind: Kind; readonly connections: number; readonly warmUps: number };

/** The compiler of the runtime takes some seconds of load until it has nothing left to do. */
const WARM_UPS = 4;

const many = Number(flags.connections);
const scenarios: readonly Scenario[] = [
  { kind: 'whole', connections: many, warmUps: WARM_UPS },
  { kind: 'stream', connections: many, warmUps: WARM_UPS },
  { kind: 'whole', connections: 1, warmUps: 0 },
];

type Target = {
  readonly name: string;
  readonly url: string;
  readonly pid: number;
  readonly key?: string;
  readonly charged: boolean;
};

type Sample = Measured & { readonly rate: number; readonly cpuUs: number };

const measures = (part: string) => flags.only === undefined || flags.only === part;
if (measures('ledger') && !flags.yardstick) {
  await benchLedger({ rounds: Number(flags.rounds), seconds: Number(flags.seconds) });
}
if (flags.only === 'cluster')
  await benchCluster({ rounds: Number(flags.rounds), seconds: Number(flags.seconds) });
if (measures('failing') && !flags.yardstick) await benchFailing(pin(0));
if (flags.only === 'dashboard') await benchDashboard(pin(0), Number(flags.requests));
if (!measures('gateway')) process.exit(0);

const folder = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
const upstream = await startProcess('upstream.ts', [], pin(1));
const completions = `${upstream.url}/v1/chat/completions`;
const forwarder = await startProcess('forwarder.ts', [completions], pin(0));
const gateway = flags.yardstick
  ? undefined
  : await startGateway({ catalog: benchCatalog(upstream.url), prefix: pin(0) });
const account = await gateway?.createAccount({ plan: 'bench', credit: CREDIT });

const targets: Target[] = [
  { name: 'D upstream alone', url: completions, pid: upstream.pid, charged: false },
  { name: 'B bare forwarder', url: forwarder.url, pid: forwarder.pid, charged: false },
];
if (gateway !== undefined && account !== undefined) {
  const { pid, url } = gateway;
  const paths = { chat: '/v1/chat/completions', messages: '/v1/messages' };
  for (const [format, path] of Object.entries(paths)) {
    const name = `gateway, ${format}`;
    targets.push({ name, url: url + path, pid, key: account.key, charged: true });
  }
}

const rounds = Number(flags.rounds);
const completed: Record<Kind, number> = { whole: 0, stream: 0 };
let cutOff = 0;
let errors = 0;

for (const scenario of scenarios) {
  const samples = new Map<Target, Sample[]>(targets.map((target) => [target, []]));
  for (let round = -scenario.warmUps; round < rounds; round += 1) {
    for (const target of targets) {
      const sample = await measure(target, scenario);
      if (round >= 0) samples.get(target)?.push(sample);
    }
  }
  print(scenario, samples);
}
if (gateway !== undefined && account !== undefined) {
  process.stdout.write(`gateway memory: ${residentMegabytes(gateway.pid)} MB\n`);
  await checkLedger(gateway, account);
}
if (errors > 0) process.stdout.write(`\nWARNING: ${errors} requests failed.\n`);

await gateway?.[Symbol.asyncDispose]();
forwarder.kill();
upstream.kill();
await rm(folder, { recursive: true });
if (errors > 0) process.exitCode = 1;

async function measure(target: Target, scenario: Scenario): Promise<Sample> {
  const load: Load = {
    url: target.url,
    body: benchBody(scenario.kind === 'stream'),
    headers: {
      'content-type': 'application/json',
      ...(target.key === undefined ? {} : { authorization: `Bearer ${target.key}` }),
    },
    connections: scenario.connections,
    seconds: Number(flags.seconds),
  };
  const before = cpuMicroseconds(target.pid);
  const measured = await runLoad(load, pin(1), folder);
  const cpu = cpuMicroseconds(target.pid) - before;
  errors += measured.errors;
  if (target.charged) {
    completed[scenario.kind] += measured.requests - measured.errors;
    cutOff += scenario.connections;
  }
  return {
    ...measured,
    rate: measured.requests / measured.seconds,
    cpuUs: cpu / Math.max(1, measured.requests),
  };
}

function print(scenario: Scenario, samples: ReadonlyMap<Target, readonly Sample[]>): void {
  const yardstick = [...samples].find(([target]) => target.name.startsWith('B'))?.[1] ?? [];
  const title = `${scenario.kind} answers, ${scenario.connections} connections`;
  const columns = ['requests/s', 'of B', 'cpu µs/request', 'of B', 'p50 µs', 'p99 µs'];
  row(title, columns);
  for (const [target, rows] of samples) {
    const ratio = (read: (sample: Sample) => number) =>
      median(rows.map((sample, index) => read(sample) / read(yardstick[index] ?? sample)));
    row(target.name, [
      median(rows.map((sample) => sample.rate)).toFixed(0),
      ratio((sample) => sample.rate).toFixed(2),
      median(rows.map((sample) => sample.cpuUs)).toFixed(0),
      ratio((sample) => sample.cpuUs).toFixed(2),
      median(rows.map((sample) => sample.p50Us)).toFixed(0),
      median(rows.map((sample) => sample.p99Us)).toFixed(0),
    ]);
  }
  process.stdout.write('\n');
}

/**
 * Every completed answer was charged its exact price. The answers that the end of a run cut off may
 * have been charged as well, in part or in full, so the debits have a small range.
 */
async function checkLedger(server: Gateway, owner: TestAccount): Promise<void> {
  const prompt = (REPORTED.prompt - REPORTED.cached) * PRICE.input + REPORTED.cached * PRICE.cached;
  const whole = prompt + REPORTED.wholeOutput * PRICE.output;
  const streamed = prompt + REPORTED.streamOutput * PRICE.output;
  const least = completed.whole * whole + completed.stream * streamed;
  const most = least + cutOff * streamed;
  const shown = await server.run('account', 'show', owner.id);
  const available = findAvailable(shown);
  if (available === undefined) {
    process.stdout.write('ledger: `account show` tells no available balance; not checked\n');
    return;
  }
  const debited = CREDIT - available;
  const good = debited >= least - 0.01 && debited <= most + 0.01;
  process.stdout.write(
    `ledger ${good ? 'agrees' : 'DISAGREES'}: ${debited.toFixed(1)} service tokens debited, expected ${least.toFixed(1)} to ${most.toFixed(1)}\n`,
  );
  if (!good) process.exitCode = 1;
}

/** The available balance, wherever the command's record has it. */
function findAvailable(value: unknown): number | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, field] of Object.entries(value)) {
    if (name.includes('available') && typeof field === 'string') return Number(field);
    const found = findAvailable(field);
    if (found !== undefined) return found;
  }
  return undefined;
}
