// The record of a long period is made in steps, because its sums would delay all other requests.

import { expect, test } from 'bun:test';
import { type Histogram, quantile } from '../../src/core/histogram.ts';
import { readPeriod } from '../../src/dashboard/period.ts';
import { speedsRecord } from '../../src/dashboard/speeds.ts';
import { DAY, HOUR_MS } from '../support/usage.ts';

const BUCKETS = 400;

/** Values from below 1 ms to half a minute, as a busy account has them in every hour. */
function histogram(): Histogram {
  return new Map(Array.from({ length: 120 }, (_, bucket) => [bucket, bucket + 1]));
}

test('the speeds of 400 hours add up, and let other work run', async () => {
  const to = DAY + BUCKETS * HOUR_MS;
  const query = { from: new Date(DAY).toISOString(), to: new Date(to).toISOString() };
  const period = readPeriod({ ...query, step: 'hour' }, to);
  const models = ['swift-1', 'swift-2', 'deep-1'];
  const cells = Array.from({ length: BUCKETS }, (_, bucket) =>
    models.map((model, weight) => {
      const [firstContent, duration, speed] = [histogram(), histogram(), histogram()];
      const counted = { attempts: weight + 1, failed: weight, failures: new Map([[1, weight]]) };
      return { bucket, model, speeds: { firstContent, duration, speed, ...counted } };
    }),
  ).flat();
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const record = await speedsRecord(period, cells);
  isOver = true;
  expect(turns).toBeGreaterThan(1);
  expect(record.buckets).toHaveLength(BUCKETS);
  expect(record.points.map(({ bucket }) => bucket)).toEqual([...Array(BUCKETS).keys()]);
  expect(record.points[7]).toMatchObject({ requests: 6, failed: 3, failures: { timeout: 3 } });
  expect(record.models.map(({ model, requests }) => [model, requests])).toEqual([
    ['deep-1', 3 * BUCKETS],
    ['swift-2', 2 * BUCKETS],
    ['swift-1', BUCKETS],
  ]);
  expect(record.total).toMatchObject({
    requests: 6 * BUCKETS,
    failed: 3 * BUCKETS,
    duration_ms_p95: Number(quantile(histogram(), 0.95)?.toPrecision(3)),
  });
  expect(await speedsRecord(period, [])).toMatchObject({
    ...{ points: [], models: [], total: { requests: 0, duration_ms_p50: null } },
  });
});
