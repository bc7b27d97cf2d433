// The long run of the crash test: rounds of load and kills with one table line each, then how often
// each fault fired, how often a law needed an excuse, and the verdict. Exits with 0 when every law
// held and the run proves it, 1 when a law broke, and 3 when a fault was too rare or an excuse too
// frequent.

import { parseArgs } from 'node:util';
import { type Books, joinBooks } from '../test/crash/books.ts';
import { playClusterRound } from '../test/crash/cluster/round.ts';
import { countExcused, EXCUSES } from '../test/crash/excuses.ts';
import { explainRequest } from '../test/crash/explain.ts';
import { FAULTS, FAULTS_OF_CLUSTERS, leastOf } from '../test/crash/faults.ts';
import { judge } from '../test/crash/laws/all.ts';
import type { Violation } from '../test/crash/laws/law.ts';
import { playRound, type RoundResult } from '../test/crash/round.ts';
import { say } from './say.ts';

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    rounds: { type: 'string', default: '50' },
    seconds: { type: 'string', default: '6' },
    'kill-every': { type: 'string', default: '3' },
    nodes: { type: 'string', default: '1' },
    'stall-seconds': { type: 'string', default: '30' },
    'sync-ms': { type: 'string', default: '0' },
    keep: { type: 'boolean', default: false },
  },
});

const nodes = Number(options.nodes);
const faults = nodes === 1 ? FAULTS : FAULTS_OF_CLUSTERS;

/** What the rounds have shown so far. */
const seen = { requests: 0, fired: new Map<string, number>(), excused: new Map<string, number>() };

process.exitCode = await run();

async function run(): Promise<number> {
  const [seed = 0, rounds = 0, seconds = 0, killEvery = 0, stallSeconds = 0, syncMs = 0] = [
    options.seed,
    options.rounds,
    options.seconds,
    options['kill-every'],
    options['stall-seconds'],
    options['sync-ms'],
  ].map(Number);
  const numbers = [rounds, seconds, killEvery, stallSeconds, nodes];
  if (!Number.isInteger(seed) || numbers.some((number) => !(number > 0)) || !(syncMs >= 0)) {
    say(
      'crash: --seed, --rounds, --seconds, --kill-every, --nodes, --stall-seconds and --sync-ms take numbers.',
    );
    return 2;
  }
  const startedAt = performance.now();
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
      'excused',
      'at rest',
      'took',
      'broken',
    ]),
  );
  for (let round = 0; round < rounds; round += 1) {
    const roundStartedAt = performance.now();
    const result =
      nodes === 1
        ? await playRound({
            ...{ seed: seed + round, seconds, killEvery },
            ...(syncMs === 0 ? {} : { syncMs }),
          })
        : await playClusterRound({ seed: seed + round, seconds, nodes, stallSeconds });
    const broken = judge(result.books);
    learn(result.books);
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
  return conclude(failed, rounds, (performance.now() - startedAt) / 1_000);
}

function learn(books: Books): void {
  const stories = joinBooks(books);
  seen.requests += stories.length;
  for (const fault of faults) add(seen.fired, fault.name, fault.count(books, stories));
  for (const { name, needs } of EXCUSES) {
    add(seen.excused, name, stories.filter((story) => needs(story, books)).length);
  }
}

function add(counts: Map<string, number>, name: string, more: number): void {
  counts.set(name, (counts.get(name) ?? 0) + more);
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
    String(countExcused(books, stories)),
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
    for (const line of explainRequest(books, first.subject)) say(`    ${line}`);
  }
  if (books.played.length > 0) say(`  played ${books.played.join(', ')}`);
  say(`  kept in ${directory}; again: scripts/crash ${again}`);
}

function conclude(failed: readonly number[], rounds: number, seconds: number): number {
  const { requests, fired, excused } = seen;
  const invalid: string[] = [];
  for (const fault of faults) {
    const times = fired.get(fault.name) ?? 0;
    const least = leastOf(fault, rounds);
    if (times < least) invalid.push(fault.name);
    say(tally(times, fault.name, times < least ? `TOO RARE, ${least} wanted` : ''));
  }
  for (const { name, most } of nodes === 1 ? [] : EXCUSES) {
    const times = excused.get(name) ?? 0;
    const isTooMuch = times > most * requests;
    if (isTooMuch) invalid.push(name);
    const part = `${((100 * times) / requests).toFixed(1)} % of ${requests} requests`;
    say(tally(times, `excused: ${name}`, isTooMuch ? `TOO MUCH, ${part}` : part));
  }
  const took = `${rounds} rounds in ${seconds.toFixed(0)} s`;
  if (failed.length > 0) {
    say(`FAILED: ${took}, laws broke with the seeds ${failed.join(', ')}`);
    return 1;
  }
  if (invalid.length > 0) {
    say(`INVALID: ${took}, no law broke, and that proves nothing: ${invalid.join('; ')}`);
    return 3;
  }
  say(`PASSED: ${took}, every law held`);
  return 0;
}

function tally(times: number, name: string, note: string): string {
  return `${String(times).padStart(8)}  ${name}  ${note}`.trimEnd();
}

function row(cells: readonly string[]): string {
  return cells.map((cell) => cell.padStart(10)).join(' ');
}
