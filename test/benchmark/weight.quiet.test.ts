// Fails when a request uses 50 % more CPU than recorded. Measures CPU relative to B in the same
// rounds, not time. To accept an intended change: UPDATE_RECORD=1 bun test test/benchmark

import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Weights, weigh } from '../../scripts/benchmark/weight.ts';
import { gatewayCommand } from '../support/gateway.ts';

const RECORD = join(import.meta.dir, '../../scripts/benchmark/weight.json');

const HEAVIER = 1.5;

/** A change makes every run heavier, other programs only some of them. */
const RUNS = 3;

const hasProc = existsSync('/proc/self/schedstat');

test.skipIf(!hasProc)(
  'a request costs less than 1.5 times the CPU that is recorded',
  async () => {
    const [binary = ''] = gatewayCommand();
    if (process.env['UPDATE_RECORD'] === '1') {
      await Bun.write(RECORD, `${JSON.stringify(await weigh(binary), null, 2)}\n`);
    }
    const recorded: Weights = await Bun.file(RECORD).json();
    let heavier: readonly string[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      const weights = await weigh(binary);
      heavier = Object.entries(weights)
        .filter(([name, weight]) => !(weight < (recorded[name] ?? 0) * HEAVIER))
        .map(([name, weight]) => `${name}: ${weight} of B, and ${recorded[name]} when recorded`);
      if (heavier.length === 0) break;
    }
    expect(heavier).toEqual([]);
  },
  600_000,
);
