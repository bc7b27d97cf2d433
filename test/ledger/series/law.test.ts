// The law of the series: together with the records behind them they equal the sums of all records,
// at every moment, for any order of settlements, roll-ups, reads and crashes.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { micro } from '../../../src/core/money.ts';
import type { Figures } from '../../../src/ledger/series/figures.ts';
import { createModelSeriesReader, type ModelFigures } from '../../../src/ledger/series/models.ts';
import {
  createSeriesReader,
  type SeriesFilter,
  type SeriesGroup,
} from '../../../src/ledger/series/read.ts';
import { createRollUp } from '../../../src/ledger/series/roll-up.ts';
import type { Database } from '../../../src/store/contract.ts';
import {
  connectAgain,
  describeOnEachDatabase,
  newDatabase,
  tamper,
  temporaryDirectory,
  testDialect,
} from '../../support/database.ts';
import {
  addRecords,
  DAY,
  HOUR_MS,
  someUsage,
  type UsageRecord,
  usageRecord,
} from '../../support/usage.ts';

const directory = temporaryDirectory();

const HOURS = [...Array(30).keys()].map((hour) => DAY + hour * HOUR_MS);
const DAYS = [DAY, DAY + 24 * HOUR_MS, DAY + 48 * HOUR_MS];
const UNEVEN = [DAY, DAY + 5 * HOUR_MS, DAY + 6 * HOUR_MS, DAY + 29 * HOUR_MS];
const BOTH_DAYS = [DAY, DAY + 48 * HOUR_MS];

/** The last two are ordered by UTF-8, which is not the order of JavaScript. */
const END_USERS = [null, '', 'ann', 'annie', 'ben', '\uffe0', '\u{1f600}'];

const someRecord = fc
  .tuple(someUsage, fc.constantFrom(...END_USERS))
  .map(([facts, endUser]) => ({ ...facts, endUser }));

const groupOf: Readonly<Record<SeriesGroup, (record: UsageRecord) => string>> = {
  total: () => '',
  model: (record) => `${modelOf(record)} ${record.modelRequested}`,
  key: ({ keyId }) => keyId,
  end_user: ({ endUser }) => endUser ?? '',
};

function modelOf({ modelServed, modelRequested }: UsageRecord): string {
  return modelServed ?? modelRequested;
}

/** The same sums by the plainest way there is. */
function sums<F>(
  records: readonly UsageRecord[],
  edges: readonly number[],
  group: (record: UsageRecord) => string,
  figures: (records: readonly UsageRecord[]) => F,
): (readonly [number, string, F])[] {
  const rows: (readonly [number, string, F])[] = [];
  for (let bucket = 0; bucket < edges.length - 1; bucket += 1) {
    const [from = 0, until = 0] = edges.slice(bucket, bucket + 2);
    const inside = records.filter(({ startedAt }) => startedAt >= from && startedAt < until);
    for (const [name, of] of Map.groupBy(inside, group)) rows.push([bucket, name, figures(of)]);
  }
  return sorted(rows);
}

function figuresOf(records: readonly UsageRecord[]): Figures {
  const ended = (...outcomes: string[]) =>
    records.filter(({ outcome }) => outcomes.includes(outcome)).length;
  const count = (read: (record: UsageRecord) => number) =>
    records.reduce((sum, record) => sum + read(record), 0);
  const amount = (read: (record: UsageRecord) => bigint) =>
    records.reduce((sum, record) => sum + read(record), 0n);
  return {
    requests: records.length,
    stopped: ended('stopped_balance'),
    cancelled: ended('client_cancelled'),
    failed: ended('upstream_failed', 'gateway_failed'),
    inputTokens: count((record) => record.inputTokens),
    cachedInputTokens: count((record) => record.cachedInputTokens),
    outputTokens: count((record) => record.outputTokens),
    reasoningTokens: count((record) => record.reasoningTokens),
    charged: micro(amount((record) => record.charged)),
    debited: micro(amount((record) => record.debited)),
    loss: micro(amount((record) => record.loss)),
  };
}

/** What the attempts of `support/usage.ts` cost, by their text. */
const COSTS: Readonly<Record<string, readonly [cost: bigint, isComplete: boolean]>> = {
  '[]': [0n, true],
  '[{"upstream":"a","usage":{"inputTokens":1},"cost":"0.000004"}]': [4n, true],
  '[{"upstream":"a","usage":{"inputTokens":1}},{"upstream":"b","usage":{},"cost":"2.5"}]': [
    2_500_000n,
    false,
  ],
  '[{"upstream":"a","failure":"timeout"},{"upstream":"b","usage":{},"cost":"1"}]': [
    1_000_000n,
    true,
  ],
  '[{"upstream":"a","usage":{}}]': [0n, false],
};

function modelFiguresOf(records: readonly UsageRecord[]): ModelFigures {
  const costs = records.map((record) => {
    const [cost, isComplete] = COSTS[record.attempts] ?? [0n, false];
    return { cost, isComplete, margin: isComplete ? record.debited - cost : 0n };
  });
  return {
    ...figuresOf(records),
    estimatedPromptTokens: records.reduce((sum, each) => sum + each.estimatedPromptTokens, 0),
    upstreamCost: micro(costs.reduce((sum, { cost }) => sum + cost, 0n)),
    margin: micro(costs.reduce((sum, { margin }) => sum + margin, 0n)),
    uncosted: costs.filter(({ isComplete }) => !isComplete).length,
  };
}

function sorted<F>(rows: (readonly [number, string, F])[]) {
  return rows.sort(([a, x], [b, y]) => a - b || (x < y ? -1 : 1));
}

type Step =
  | { readonly kind: 'settle'; readonly usage: readonly Partial<UsageRecord>[] }
  | { readonly kind: 'roll-up'; readonly size: number; readonly other: boolean }
  | { readonly kind: 'death'; readonly size: number }
  | {
      readonly kind: 'read';
      readonly groupBy: SeriesGroup;
      readonly edges: number;
      readonly only: SeriesFilter;
    };

const someStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      usage: fc.array(someRecord, { maxLength: 6 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('roll-up' as const),
      size: fc.integer({ min: 1, max: 9 }),
      other: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('death' as const),
      size: fc.integer({ min: 1, max: 9 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('read' as const),
      groupBy: fc.constantFrom<SeriesGroup>('total', 'model', 'key', 'end_user'),
      edges: fc.nat(2),
      only: fc.record(
        {
          model: fc.constantFrom('swift-1', 'swift-0', 'deep-1', 'none'),
          keyId: fc.constantFrom('key_1', 'key_2', 'none'),
          endUser: fc.constantFrom('', 'ann', 'none', '\u{1f600}'),
        },
        { requiredKeys: [] },
      ),
    }),
  },
);

/** The writes of the step are rolled back when the mark is to be moved. */
async function dieInStep(database: Database, size: number): Promise<void> {
  const dies = 'trigger dying before update on usage_mark';
  await tamper(
    database,
    testDialect() === 'postgres'
      ? `create ${dies} for each row when (new.last_record <> old.last_record)
          execute function tollgate_refuse('dead')`
      : `create ${dies} when new.last_record <> old.last_record
          begin select raise(abort, 'dead'); end`,
  );
  const rollUp = createRollUp(database);
  if ((await rollUp.behind()) > 0) await expect(rollUp.step(size)).rejects.toThrow('dead');
  await tamper(
    database,
    testDialect() === 'postgres' ? 'drop trigger dying on usage_mark' : 'drop trigger dying',
  );
}

describeOnEachDatabase('series', () => {
  test('series and what is behind them are always the sums of the records', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(someStep, { maxLength: 25 }), async (steps) => {
        const database = await newDatabase(directory);
        const beside = connectAgain(database);
        const records: UsageRecord[] = [];
        const pending: Promise<void>[] = [];
        const readSeries = createSeriesReader(database);
        const readModels = createModelSeriesReader(database);

        async function read(
          groupBy: SeriesGroup,
          place: number,
          only: SeriesFilter = {},
        ): Promise<void> {
          const accountId = 'acct_ada';
          const ofEndUser = groupBy === 'end_user' || only.endUser !== undefined;
          const spans = ofEndUser ? [DAYS, BOTH_DAYS, DAYS] : [HOURS, DAYS, UNEVEN];
          const edges = spans[place] ?? [];
          const series = await readSeries({ accountId, edges, groupBy, only });
          const own = records.filter(
            (record) =>
              record.accountId === accountId &&
              [modelOf(record), record.modelRequested, undefined].includes(only.model) &&
              [record.keyId, undefined].includes(only.keyId) &&
              [record.endUser ?? '', undefined].includes(only.endUser),
          );
          expect({ ...series, cells: rowsOf(series.cells) }).toEqual({
            cells: sums(own, edges, groupOf[groupBy], figuresOf),
            firstBucket: 0,
            behind: 0,
          });
          const models = await readModels(edges);
          expect(rowsOf(models.cells)).toEqual(sums(records, edges, modelOf, modelFiguresOf));
        }

        for (const step of steps) {
          if (step.kind === 'settle') {
            const added = step.usage.map(usageRecord);
            await addRecords(database, added);
            records.push(...added);
          } else if (step.kind === 'roll-up') {
            await createRollUp(step.other ? beside : database).step(step.size);
          } else if (step.kind === 'death') {
            await dieInStep(beside, step.size);
          } else {
            pending.push(read(step.groupBy, step.edges, step.only));
            // Over a network, a record that arrives during the read may be in an answer or not yet.
            if (testDialect() === 'postgres') await Promise.all(pending);
          }
          // The reads in progress go on.
          await new Promise(setImmediate);
        }
        await Promise.all(pending);
        const rollUp = createRollUp(database);
        while ((await rollUp.step(7)) > 0);
        expect(await rollUp.behind()).toBe(0);
        await read('key', 0);
        await database.close();
        await beside.close();
      }),
      { numRuns: 40 },
    );
  }, 60_000);
});

function rowsOf<F>(cells: readonly { bucket: number; group: string; figures: F }[]) {
  return sorted(cells.map(({ bucket, group, figures }) => [bucket, group, figures] as const));
}
