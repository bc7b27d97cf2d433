// The long run of the fuzzers: divides the time among the laws and prints one line with the number
// of runs for each. A failing input is shrunk and kept in test/fuzz/found, where the tests run it
// from then on.

import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { keepFound, readFound } from '../test/fuzz/found.ts';
import { PROPERTIES } from '../test/fuzz/properties.ts';
import type { Failure, Property } from '../test/fuzz/property.ts';
import { say } from './say.ts';

/** Between two looks at the clock. */
const BATCH_RUNS = 100;

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    only: { type: 'string', default: '' },
    replay: { type: 'string' },
  },
});

process.exitCode = options.replay === undefined ? explore() : replay(options.replay);

function explore(): number {
  const seed = Number(options.seed);
  const chosen = PROPERTIES.filter(({ name }) => name.includes(options.only));
  const share = Number(options.seconds) / chosen.length;
  if (!Number.isInteger(seed) || !Number.isFinite(share) || share <= 0) {
    say('fuzz: --seconds and --seed take numbers, and --only words of the name of a law.');
    return 2;
  }
  say(`seed ${seed}, ${share.toFixed(1)} s a law`);
  const failed = chosen.filter((property) => !exploreOne(property, seed, share));
  say(`${chosen.length - failed.length} laws held, ${failed.length} broke`);
  return failed.length === 0 ? 0 : 1;
}

/** Whether the law held for all inputs that were drawn in so many seconds. */
function exploreOne(property: Property, seed: number, seconds: number): boolean {
  const startedAt = performance.now();
  const elapsed = (): number => (performance.now() - startedAt) / 1_000;
  const runs = Math.min(BATCH_RUNS, property.shortRuns);
  let done = 0;
  for (let batch = 0; elapsed() < seconds; batch += 1) {
    const failure = property.explore(seed + batch, runs);
    if (failure !== undefined) {
      tell(property, seed + batch, failure);
      return false;
    }
    done += runs;
  }
  say(`held   ${property.name}: ${done} runs, ${Math.round(done / elapsed())}/s`);
  return true;
}

function tell(property: Property, seed: number, { error, input }: Failure): void {
  const path = keepFound({ name: property.name, input });
  say(`BROKE  ${property.name}, seed ${seed}`);
  say(`       input: ${JSON.stringify(input)}`);
  say(`       again: scripts/fuzz --replay ${path}`);
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
}

function replay(path: string): number {
  if (!existsSync(path)) {
    say(`fuzz: there is no file ${path}`);
    return 2;
  }
  const { name, input } = readFound(path);
  const property = PROPERTIES.find((property) => property.name === name);
  if (property === undefined) {
    say(`fuzz: the file names no law that there is: ${name}`);
    return 2;
  }
  property.replay(input);
  say(`held   ${name}`);
  return 0;
}
