// The long run of the torture rig: rounds of load and kills, each with its line in a table, then how
// often each fault fired and the verdict. It ends with 0 where every law held and every fault
// fired often enough, with 1 where a law broke, with 3 where a fault was too rare.

import { parseArgs } from 'node:util';
import { type Books, joinBooks } from '../test/torture/books.ts';
import { CLUSTER_FAULTS } from '../test/torture/cluster/faults.ts';
import { playClusterRound } from '../test/torture/cluster/round.ts';
import { FAULTS, type Fault, leastOf, playedFault } from '../test/torture/faults.ts';
import { judge } from '../test/torture/laws/all.ts';
import type { Violation } from '../test/torture/laws/law.ts';
import { playRound, type RoundResult } from '../test/torture/round.ts';
import { tellStory } from '../test/torture/story.ts';

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    rounds: { type: 'string', default: '50' },
    seconds: { type: 'string', default: '6' },
    'kill-every': { type: 'string', default: '3' },
    nodes: { type: 'string', default: '1' },
    'stall-seconds': { type: 'string', default: '30' },
    keep: { type: 'boolean', default: false },
  },
});

const nodes = Number(options.nodes);
/** How rare a fault of clients and upstreams may be does not depend on the number of nodes. */
const faults: readonly Fault[] =
  nodes === 1 ? FAULTS : [...CLUSTER_FAULTS.map(playedFault), ...FAULTS.filter(isOfNoServer)];

process.exitCode = await run();

async function run(): Promise<number> {
  const [seed = 0, rounds = 0, seconds = 0, killEvery = 0, stallSeconds = 0] = [
    options.seed,
    options.rounds,
    options.seconds,
    options['kill-every'],
    options['stall-seconds'],
  ].map(Number);
  const numbers = [rounds, seconds, killEvery, stallSeconds, nodes];
  if (!Number.isInteger(seed) || numbers.some((number) => !(number > 0))) {
    say(
      'torture: --seed, --rounds, --seconds, --kill-every, --nodes and --stall-seconds take numbers.',
    );
    return 2;
  }
  const startedAt = performance.now();
  const fired = new Map<string, number>();
  const failed: number[] = [];
  say(
    nodes === 1
      ? `${rounds} rounds of ${seconds} s from seed ${seed} on, a kill at most every ${killEvery} s`
      : `${rounds} rounds of ${nodes} nodes and ${seconds} s from seed ${seed} on, stalls of ${stallSeconds} s`,
  );
  say(
    row([
      'seed',
      'requests',
      'kills',
      'cut off',
      'recovered',
      'left',
      'refused',
      'at rest',
      'took',
      'broken',
    ]),
  );
  for (let round = 0; round < rounds; round += 1) {
    const roundStartedAt = performance.now();
    const result =
      nodes === 1
        ? await playRound({ seed: seed + round, seconds, killEvery })
        : await playClusterRound({ seed: seed + round, seconds, nodes, stallSeconds });
    const broken = judge(result.books);
    countFaults(result.books, fired);
    const took = `${((performance.now() - roundStartedAt) / 1_000).toFixed(1)} s`;
    say(row([String(seed + round), ...summary(result.books), took, String(broken.length)]));
    if (broken.length > 0) {
      failed.push(seed + round);
      const again = [
        `--seed ${seed + round} --rounds 1 --seconds ${seconds}`,
        nodes === 1
          ? `--kill-every ${killEvery}`
          : `--nodes ${nodes} --stall-seconds ${stallSeconds}`,
      ];
      tell(result, broken, again.join(' '));
    }
    if (broken.length === 0 && !options.keep) await result.discard();
  }
  return conclude(fired, failed, rounds, (performance.now() - startedAt) / 1_000);
}

function countFaults(books: Books, fired: Map<string, number>): void {
  const stories = joinBooks(books);
  for (const { name, count } of faults) {
    fired.set(name, (fired.get(name) ?? 0) + count(books, stories));
  }
}

function summary(books: Books): string[] {
  const stories = joinBooks(books);
  const count = (holds: (story: (typeof stories)[number]) => unknown) =>
    String(stories.filter(holds).length);
  return [
    String(stories.length),
    String(books.kills.length),
    count(({ kill, client }) => kill && !client.complete),
    count(({ record }) => record?.basis === 'recovered'),
    count(({ client }) => client.left),
    count(({ hold }) => hold === undefined),
    books.quiescentAfterMs === undefined ? 'never' : `${books.quiescentAfterMs} ms`,
  ];
}

/** The first request of each law that broke, with its story. */
function tell(
  { books, directory }: RoundResult,
  broken: readonly Violation[],
  again: string,
): void {
  for (const [law, violations] of Map.groupBy(broken, (violation) => violation.law)) {
    const [first] = violations;
    if (first === undefined) continue;
    say(`  BROKE ${law} (${violations.length}): ${first.subject}: ${first.detail}`);
    for (const line of tellStory(books, first.subject)) say(`    ${line}`);
  }
  if (books.played.length > 0) say(`  played ${books.played.join(', ')}`);
  say(`  kept in ${directory}; again: scripts/torture ${again}`);
}

function conclude(
  fired: ReadonlyMap<string, number>,
  failed: readonly number[],
  rounds: number,
  seconds: number,
): number {
  const rare = faults.filter((fault) => (fired.get(fault.name) ?? 0) < leastOf(fault, rounds));
  for (const fault of faults) {
    const mark = rare.includes(fault) ? `TOO RARE, ${leastOf(fault, rounds)} wanted` : '';
    say(`${String(fired.get(fault.name)).padStart(8)}  ${fault.name}  ${mark}`.trimEnd());
  }
  const took = `${rounds} rounds in ${seconds.toFixed(0)} s`;
  if (failed.length > 0) {
    say(`FAILED: ${took}, laws broke with the seeds ${failed.join(', ')}`);
    return 1;
  }
  if (rare.length > 0) {
    say(`INVALID: ${took}, no law broke, and ${rare.length} faults were too rare to say so`);
    return 3;
  }
  say(`PASSED: ${took}, every law held`);
  return 0;
}

/** Kills of a cluster are counted with what was played. */
function isOfNoServer({ name }: Fault): boolean {
  return !/^kills$|^kill at|^killed within|^cut off/.test(name);
}

function row(cells: readonly string[]): string {
  return cells.map((cell) => cell.padStart(10)).join(' ');
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
