// A short run of the soak: each kind of traffic is sent and answered as it should be, catalogs are
// reloaded, and the gateway ends well. scripts/soak is the long run, which judges the growth.

import { expect, test } from 'bun:test';
import { runSoak } from './soak.ts';
import { KIND_NAMES } from './traffic.ts';

test('sends every kind of request, and every answer is one that its kind allows', async () => {
  const { counts, samples, unexpected, reloads, exitCode, healthy } = await runSoak({
    ...{ seed: 20_261_123, runMs: 10_000, rate: 40, sampleMs: 1_000, reloadMs: 1_500 },
  });
  expect([unexpected, exitCode, healthy]).toEqual([[], 0, true]);
  const sent = new Set([...counts.keys()].map((name) => name.split(': ')[0]));
  expect(KIND_NAMES.filter((name) => !sent.has(name))).toEqual([]);
  expect(reloads).toBeGreaterThanOrEqual(5);
  expect(samples.length).toBeGreaterThanOrEqual(8);
  for (const sample of samples) {
    const { logBytes, ...rest } = sample;
    expect(logBytes).toBeGreaterThanOrEqual(0);
    expect(Object.values(rest).every((value) => value > 0)).toBe(true);
  }
}, 150_000);
