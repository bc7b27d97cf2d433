// The stored speeds are those of all records together, however many each step rolled up.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { quantile } from '../../../src/core/histogram.ts';
import { createRollUp } from '../../../src/ledger/series/roll-up.ts';
import { createSpeedReader, type SpeedCell } from '../../../src/ledger/series/speeds.ts';
import { describeOnEachDatabase, newDatabase, temporaryDirectory } from '../../support/database.ts';
import { addRecords, DAY, HOUR_MS, type UsageRecord, usageRecord } from '../../support/usage.ts';

const directory = temporaryDirectory();
const EDGES = [DAY, DAY + 24 * HOUR_MS];

/** A failed attempt, then one that served `outputTokens` after `firstMs`, in `servedMs`. */
function timed(
  firstMs: number,
  servedMs: number,
  facts: Partial<UsageRecord> & { readonly failure?: string } = {},
): UsageRecord {
  const { failure, ...more } = facts;
  const startedAt = facts.startedAt ?? DAY;
  const at = { model: 'swift-1', credential: '1' };
  const attempts = [
    { ...at, upstream: 'west', startedAt, endedAt: startedAt + 10, failure: 'overloaded' },
    { upstream: 'south', model: 'swift-1', startedAt, endedAt: startedAt, failure: 'no_capacity' },
    {
      ...{ ...at, upstream: 'east', startedAt: startedAt + 10, endedAt: startedAt + 10 + servedMs },
      ...{ firstByteMs: 1, firstContentMs: firstMs, ...(failure && { failure }) },
      usage: { outputTokens: 50 },
    },
  ];
  return usageRecord({
    ...{ outputTokens: 50, endedAt: startedAt + 10 + servedMs, ...more, startedAt },
    ...{ attempts: JSON.stringify(attempts), ...(failure && { outcome: 'upstream_failed' }) },
  });
}

const plain = (cells: readonly SpeedCell[]) =>
  cells.map(({ bucket, model, speeds }) => ({
    ...{ bucket, model, attempts: speeds.attempts, failed: speeds.failed },
    failures: Object.fromEntries(speeds.failures),
    first: quantile(speeds.firstContent, 0.5),
    duration: quantile(speeds.duration, 0.5),
    speed: quantile(speeds.speed, 0.5),
  }));

const about = (value: number) => expect.closeTo(value, -Math.ceil(Math.log10(value / 20)));

describeOnEachDatabase('speeds', () => {
  test('of an account are from its own start, of an upstream from the attempt', async () => {
    await using database = await newDatabase(directory);
    await addRecords(database, [
      timed(90, 590),
      timed(90, 590, { failure: 'cut' }),
      timed(1, 2, { accountId: 'acct_bob', modelServed: 'other' }),
    ]);
    await createRollUp(database).step(9);
    const read = createSpeedReader(database);
    expect(plain(await read({ subject: 'acct_ada', edges: EDGES }))).toEqual([
      {
        ...{ bucket: 0, model: 'swift-1', attempts: 2, failed: 1, failures: {} },
        ...{ first: about(100), duration: about(600), speed: about(1_000) },
      },
    ]);
    expect(plain(await read({ subject: 'upstream:west', edges: EDGES }))).toEqual([
      {
        ...{ bucket: 0, model: 'swift-1', attempts: 3, failed: 3, failures: { 3: 3 } },
        ...{ first: null, duration: null, speed: null },
      },
    ]);
    const east = plain(await read({ subject: 'upstream:east', edges: EDGES, model: 'swift-1' }));
    expect(east).toMatchObject([{ attempts: 3, failed: 1, failures: { 12: 1 } }]);
    expect(await read({ subject: 'upstream:south', edges: EDGES })).toEqual([]);
  });

  test('steps of any size store the same', async () => {
    const someTimed = fc
      .tuple(
        fc.integer({ min: 1, max: 900 }),
        fc.integer({ min: 900, max: 60_000 }),
        fc.integer({ min: DAY - 2 * HOUR_MS, max: DAY + 26 * HOUR_MS }),
        fc.constantFrom(undefined, 'cut', 'timeout'),
      )
      .map(([first, served, startedAt, failure]) =>
        timed(first, served, { startedAt, ...(failure && { failure }) }),
      );
    await fc.assert(
      fc.asyncProperty(
        fc.array(someTimed, { maxLength: 20 }),
        fc.integer({ min: 1, max: 4 }),
        async (records, size) => {
          const stored = async (steps: number) => {
            const database = await newDatabase(directory);
            await addRecords(database, records);
            while ((await createRollUp(database).step(steps)) > 0);
            const read = createSpeedReader(database);
            const hours = [...Array(30).keys()].map((hour) => DAY - 2 * HOUR_MS + hour * HOUR_MS);
            const cells = [
              ...(await read({ subject: 'acct_ada', edges: hours })),
              ...(await read({ subject: 'upstream:east', edges: hours })),
              ...(await read({ subject: 'upstream:east', edges: EDGES })),
            ];
            await database.close();
            return cells.map(({ speeds, ...cell }) => ({
              ...cell,
              ...Object.fromEntries(
                Object.entries(speeds).map(([name, value]) => [
                  name,
                  typeof value === 'number' ? value : [...value].sort(([a], [b]) => a - b),
                ]),
              ),
            }));
          };
          expect(await stored(size)).toEqual(await stored(100));
        },
      ),
      { numRuns: 10 },
    );
  }, 60_000);
});
