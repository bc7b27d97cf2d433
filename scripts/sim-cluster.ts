// `scripts/sim --cluster`: simulates clusters of 2 to 64 nodes and prints the tables of
// src/docs/operators/benchmarks.md: the admitted share of a limit, the unused permits at nodes, and
// the load on Redis. Exits with an error when a limit is exceeded, except without Redis.

import { type Report, type Scenario, simulateCluster } from '../test/sim/cluster/simulate.ts';
import { say } from './say.ts';

type Varied = Omit<Scenario, 'seed' | 'minutes' | 'size'>;

/** The largest plan of those that are built in: business. */
const SIZE = 3_000;

const NODES = [2, 4, 8, 16, 64];

const DEMANDS = [
  { times: 0.5, spread: 'even' },
  { times: 1, spread: 'even' },
  { times: 10, spread: 'even' },
  { times: 10, spread: 'uneven' },
] as const;

const LIMITS = {
  requests: 'requests a minute',
  tokens: 'tokens a minute',
  slots: 'concurrent requests',
  day: 'tokens a day',
  month: 'tokens a month',
} as const;

const FAULTS: readonly (Varied & { readonly name: string })[] = [
  {
    name: '2 of 8 nodes die, requests',
    bound: 'requests',
    nodes: 8,
    times: 10,
    spread: 'even',
    deaths: 2,
  },
  {
    name: '2 of 8 nodes die, slots',
    bound: 'slots',
    nodes: 8,
    times: 10,
    spread: 'even',
    deaths: 2,
  },
  {
    ...{ name: 'Redis forgets all, requests', bound: 'requests', nodes: 8, times: 10 },
    ...{ spread: 'even', redisForgets: true },
  },
  {
    ...{ name: 'Redis forgets all, slots', bound: 'slots', nodes: 8, times: 10 },
    ...{ spread: 'even', redisForgets: true },
  },
  {
    ...{ name: 'no Redis for 10 s, even', bound: 'requests', nodes: 8, times: 10 },
    ...{ spread: 'even', redisAwayMs: 10_000 },
  },
  {
    ...{ name: 'no Redis for 10 s, uneven', bound: 'requests', nodes: 8, times: 10 },
    ...{ spread: 'uneven', redisAwayMs: 10_000 },
  },
];

const HEADER = [
  ...['above the limit', 'admitted', 'unused', 'waited for Redis'],
  ...['commands a request', 'commands a second', 'p99 added, ms'],
];

/** Answers the exit code. */
export async function simulateClusters(seed: number, minutes: number): Promise<number> {
  let exceeded = 0;
  const run = async (scenario: Varied): Promise<readonly string[]> => {
    const report = await simulateCluster({ ...scenario, seed, minutes, size: SIZE });
    if (!isUnsure(scenario) && report.overAdmitted > 0) exceeded += 1;
    return cellsOf(report, scenario);
  };
  row(['nodes', 'demand', ...HEADER]);
  row(Array(HEADER.length + 2).fill('---'));
  for (const nodes of NODES) {
    for (const demand of DEMANDS) {
      const cells = await run({ ...demand, nodes, bound: 'requests' });
      row([String(nodes), `${demand.times} × the limit, ${demand.spread}`, ...cells]);
    }
  }
  say('');
  row(['limit, 10 × on 4 nodes', ...HEADER]);
  row(Array(HEADER.length + 1).fill('---'));
  for (const bound of ['requests', 'tokens', 'slots', 'day', 'month'] as const) {
    for (const spread of ['even', 'uneven'] as const) {
      const cells = await run({ bound, spread, times: 10, nodes: 4 });
      row([`${LIMITS[bound]}, ${spread}`, ...cells]);
    }
  }
  say('');
  row(['what happens', ...HEADER]);
  row(Array(HEADER.length + 1).fill('---'));
  for (const { name, ...scenario } of FAULTS) row([name, ...(await run(scenario))]);
  if (exceeded === 0) return 0;
  say(`\nEXCEEDED: ${exceeded} clusters let in more than a limit allows.`);
  return 1;
}

/**
 * Without Redis each node has its share; after it loses its data, no node knows what the others
 * run.
 */
function isUnsure({ bound, redisAwayMs, redisForgets }: Varied): boolean {
  return redisAwayMs !== undefined || (redisForgets === true && bound === 'slots');
}

function cellsOf(report: Report, { times }: Varied): readonly string[] {
  const percent = (share: number, digits: number): string => `${(share * 100).toFixed(digits)} %`;
  return [
    report.overAdmitted === 0 ? '0' : percent(report.overAdmitted / report.limit, 1),
    `${percent(report.share, 1)} of ${times < 1 ? 'the demand' : 'the limit'}`,
    percent(report.stranded, 1),
    percent(report.waited, 1),
    report.commands.toFixed(2),
    report.commandsPerSecond.toFixed(1),
    report.p99Ms.toFixed(1),
  ];
}

function row(cells: readonly string[]): void {
  say(`| ${cells.join(' | ')} |`);
}
