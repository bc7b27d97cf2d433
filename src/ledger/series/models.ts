// What all accounts together have used of each model, and what the operator earns with it, for the
// console. Numbers are exact at once: the series and the records that are not in them yet. It only
// reads.

import { and, gt, gte, lt, lte, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { add, type Micro, ZERO } from '../../core/money.ts';
import type { Database } from '../../store/contract.ts';
import { usageRecords } from '../../store/money-views.ts';
import { usageModels } from '../../store/series-tables.ts';
import { type Buckets, createBucketReader } from './buckets.ts';
import { costFigures, createUpstreamCosts } from './costs.ts';
import { type Figures, figuresOfRecord, modelOfRecord, sumFigures, sumsOf } from './figures.ts';

/** Amounts are in 10⁻⁶ service token. `loss` is what charges exceeded the money of accounts by. */
export type ModelFigures = Figures & {
  /** What the prompts were estimated at, to be compared with `inputTokens`. */
  readonly estimatedPromptTokens: number;
  /** What upstreams ask for all attempts, as far as the catalog knew it. */
  readonly upstreamCost: Micro;
  /** Debited less that cost, of the requests of which every cost is known. */
  readonly margin: Micro;
  /** How many requests are not in the margin, because a cost of theirs is not known. */
  readonly uncosted: number;
};

/**
 * Spend, tokens, cost, margin and loss of each model, over all accounts. Buckets begin at `edges`,
 * whole UTC hours, ascending, and the last edge ends the last bucket: two edges give the totals of a
 * span, more of them a series. The groups are models: the one that served or, where none did, was
 * asked for. A request counts for the hour in which it started.
 */
type ReadModelSeries = (edges: readonly number[]) => Promise<Buckets<ModelFigures>>;

/** `database` is migrated; `monotonic` are milliseconds of a clock that never jumps, the process's own where absent. */
export function createModelSeriesReader(
  database: Database,
  monotonic?: () => number,
): ReadModelSeries {
  const readBuckets = createBucketReader(database, monotonic);
  const groups = prepareGroups(database);
  const tail = prepareTail(database);
  const upstreamCosts = createUpstreamCosts(database);
  return (edges) =>
    readBuckets<ModelFigures>(edges, {
      add: addModelFigures,
      groups: async (range) =>
        (await groups.all(range)).map(({ group, ...figures }) => ({ group, figures })),
      async *tail(rows) {
        const records = await tail.all(rows);
        const costs = await upstreamCosts(records.map((record) => record.attempts));
        for (const [index, { row, startedAt, group, attempts, ...sums }] of records.entries()) {
          const figures = { ...sums, ...costFigures(sums.debited, costs[index]) };
          yield { row, startedAt, group, figures };
        }
      },
    });
}

export function addModelFigures(a: ModelFigures, b: ModelFigures): ModelFigures {
  return sumModelFigures([a, b]);
}

export function sumModelFigures(many: readonly ModelFigures[]): ModelFigures {
  const sum = { estimatedPromptTokens: 0, upstreamCost: ZERO, margin: ZERO, uncosted: 0 };
  for (const figures of many) {
    sum.estimatedPromptTokens += figures.estimatedPromptTokens;
    sum.upstreamCost = add(sum.upstreamCost, figures.upstreamCost);
    sum.margin = add(sum.margin, figures.margin);
    sum.uncosted += figures.uncosted;
  }
  return { ...sumFigures(many), ...sum };
}

const value = sql.placeholder;

function prepareGroups({ db }: Database) {
  const count = (column: SQLiteColumn) => sql`sum(${column})`.mapWith(Number);
  const amount = (column: SQLiteColumn) => sql`sum(${column})`.mapWith(usageModels.margin);
  return db
    .select({
      group: usageModels.model,
      ...sumsOf(usageModels),
      estimatedPromptTokens: count(usageModels.estimatedPromptTokens),
      upstreamCost: amount(usageModels.upstreamCost),
      margin: amount(usageModels.margin),
      uncosted: count(usageModels.uncosted),
    })
    .from(usageModels)
    .where(and(gte(usageModels.hour, value('fromMs')), lt(usageModels.hour, value('untilMs'))))
    .groupBy(usageModels.model)
    .limit(value('limit'))
    .prepare();
}

function prepareTail({ db }: Database) {
  return db
    .select({
      row: usageRecords.number,
      startedAt: usageRecords.startedAt,
      group: modelOfRecord,
      attempts: usageRecords.attempts,
      estimatedPromptTokens: usageRecords.estimatedPromptTokens,
      ...figuresOfRecord,
    })
    .from(usageRecords)
    .where(and(gt(usageRecords.number, value('after')), lte(usageRecords.number, value('until'))))
    .prepare();
}
