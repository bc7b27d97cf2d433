// `scripts/soak`: serves mixed traffic for hours and judges how the gateway grew. Writes each sample
// to a file, so that an interrupted run can still be judged. Exits with 0 when nothing grew above its
// bound, 1 when something did or an answer was wrong, and 3 when the run was too short to decide.

import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bytesPerRequest, type Growth, growthOf, type Sample } from '../test/soak/sample.ts';
import { runSoak, type SoakResult } from '../test/soak/soak.ts';
import { newPast } from './benchmark/rows/past.ts';
import { printTable } from './benchmark/table.ts';
import { say } from './say.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** Of the settling time: the allocator keeps what the higher rate took, and reuses it. */
const WARM_SHARE = 0.75;
/** MiB an hour: a server grows by some 5 until it drops its compiled code, at 256 MiB. */
const MEMORY_BOUND = 10;

const { values: options } = parseArgs({
  options: {
    hours: { type: 'string', default: '2' },
    rate: { type: 'string', default: '8' },
    'settle-minutes': { type: 'string', default: '20' },
    // SQLite caches pages up to a bound: over a new database, memory would grow with the file.
    past: { type: 'string', default: '200000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    samples: { type: 'string', default: join(tmpdir(), `soak-${Date.now()}.jsonl`) },
    read: { type: 'string' },
  },
});

// What was started ends when this process exits, which a signal alone would not make it do.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));
process.exit(await main());

async function main(): Promise<number> {
  const settleMs = Number(options['settle-minutes']) * MINUTE_MS;
  if (options.read !== undefined) return judge(readSamples(options.read), settleMs);
  const [hours, rate, seed] = [options.hours, options.rate, options.seed].map(Number);
  if (!(hours && hours > 0) || !(rate && rate > 0) || !Number.isInteger(seed)) {
    say('soak: --hours, --rate and --seed take numbers.');
    return 2;
  }
  writeFileSync(options.samples, '');
  const directory = await newPast(Number(options.past));
  say(`${hours} hours at ${rate} requests a second, seed ${seed}; samples in ${options.samples}`);
  const result = await runSoak({
    ...{ seed: seed ?? 0, rate, runMs: hours * HOUR_MS, directory, warmMs: settleMs * WARM_SHARE },
    onSample: (sample) => appendFileSync(options.samples, `${JSON.stringify(sample)}\n`),
  });
  printResult(result);
  const isRight = result.unexpected.length === 0 && result.exitCode === 0 && result.healthy;
  const verdict = judge(result.samples, settleMs);
  return isRight ? verdict : 1;
}

function printResult({ counts, unexpected, reloads, exitCode, healthy }: SoakResult): void {
  printTable(
    ['answers', 'count'],
    [...counts].sort().map(([name, count]) => [name, String(count)]),
  );
  say(
    `${reloads} reloads; exit code ${exitCode}; doctor ${healthy ? 'finds nothing' : 'COMPLAINS'}`,
  );
  for (const each of unexpected) say(`UNEXPECTED ${each}`);
}

function readSamples(path: string): Sample[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}

function judge(samples: readonly Sample[], settleMs: number): number {
  const last = samples.at(-1);
  const minutes = (last?.atMs ?? 0) / MINUTE_MS;
  say(
    `${minutes.toFixed(0)} minutes, ${last?.requests ?? 0} requests; slopes after minute ${settleMs / MINUTE_MS}: Theil-Sen, 95 % confidence`,
  );
  const growth = growthOf(samples, settleMs, MEMORY_BOUND);
  printTable(
    ['after settling', 'first', 'last', 'per hour', '95 %', 'bound', 'verdict'],
    growth.map(cells),
  );
  say(`database: ${bytesPerRequest(samples, settleMs).toFixed(0)} bytes a request of any kind`);
  const verdicts = growth.map(({ verdict }) => verdict);
  if (verdicts.includes('failed')) return 1;
  return verdicts.includes('undecided') ? 3 : 0;
}

function cells({ name, unit, first, last, slope, bound, verdict }: Growth): string[] {
  const number = (value: number | undefined): string =>
    value === undefined ? '-' : value.toFixed(2);
  return [
    `${name}, ${unit}`,
    ...[first, last, slope?.estimate].map(number),
    slope === undefined ? '-' : `${number(slope.low)} to ${number(slope.high)}`,
    ...[bound === undefined ? '-' : `< ${bound}`, verdict ?? 'reported'],
  ];
}
