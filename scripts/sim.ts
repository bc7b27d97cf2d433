// The long run of the simulation: one world a seed, then how often each fault fired in all of them.
// A world that breaks an invariant is reported with the command that replays it; add its seed to
// test/sim/seeds.ts, which the tests replay. `--cluster`: see sim-cluster.ts.

import { parseArgs } from 'node:util';
import { FAULTS, type FaultCounts } from '../test/sim/faults.ts';
import { simulate } from '../test/sim/simulate.ts';
import { say } from './say.ts';
import { simulateClusters } from './sim-cluster.ts';

/** A fault that fired less often proves nothing; a run with such a fault is not a pass. */
const FIRED_LEAST = 50;

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    minutes: { type: 'string' },
    cluster: { type: 'boolean', default: false },
  },
});

// One seed is played to look at it; many are played to prove something.
const first = Number(options.seed ?? Math.floor(Math.random() * 2 ** 31));
const count = Number(options.seeds ?? (options.seed === undefined ? 50 : 1));
// Of three minutes the middle, where faults of a cluster come, is that of a window.
const minutes = Number(options.minutes ?? (options.cluster ? 3 : 10));

process.exit(await run());

async function run(): Promise<number> {
  if (![first, count, minutes].every((value) => Number.isInteger(value) && value >= 0)) {
    say('sim: --seed, --seeds and --minutes take whole numbers.');
    return 2;
  }
  if (options.cluster) return simulateClusters(Number(options.seed ?? 1), minutes);
  const startedAt = performance.now();
  const fired = Object.fromEntries(FAULTS.map((fault) => [fault, 0])) as Record<string, number>;
  const outcomes: Record<string, number> = {};
  let requests = 0;
  let broken = 0;
  for (let seed = first; seed < first + count; seed += 1) {
    try {
      const report = await simulate(seed, minutes);
      requests += report.requests;
      addTo(fired, report.faults);
      addTo(outcomes, report.outcomes);
    } catch (error) {
      broken += 1;
      say(
        `BROKE  seed ${seed}: ${error instanceof Error ? (error.stack ?? error.message) : error}`,
      );
      say(`       again: scripts/sim --seed ${seed} --minutes ${minutes}`);
    }
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  print('outcome', outcomes);
  print('fault', fired);
  say(
    `${count - broken} worlds held, ${broken} broke: ${requests} requests in ${count * minutes} virtual minutes, ${seconds.toFixed(0)} s`,
  );
  if (broken > 0) return 1;
  const rare = FAULTS.filter((fault) => (fired[fault] ?? 0) < FIRED_LEAST);
  if (rare.length === 0 || count === 1) return 0;
  say(`INVALID: fired less than ${FIRED_LEAST} times: ${rare.join(', ')}. Play more seeds.`);
  return 3;
}

function addTo(
  sums: Record<string, number>,
  counts: FaultCounts | Readonly<Record<string, number>>,
): void {
  for (const [name, value] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + value;
}

function print(title: string, counts: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(counts))
    say(`${title.padEnd(8)} ${name.padEnd(40)} ${value}`);
}
