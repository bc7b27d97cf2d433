// What all accounts together have used of each model, and what the operator earns with it, for the
// console. Numbers are exact at once: the series and the records that are not in them yet. It only
// reads.

import { and, gt, gte, lt, lte, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { add, type Micro, subtract, ZERO } from '../../core/money.ts';
import type { Database } from '../../store/contract.ts';
import { usageRecords } from '../../store/money-tables.ts';
import { usageModels } from '../../store/series-tables.ts';
import { type Buckets, createBucketReader } from './buckets.ts';
import { upstreamCost } from './costs.ts';
import {
  addFigures,
  type Figures,
  figuresOfRecord,
  modelOfRecord,
  rowOfRecord,
  sumsOf,
} from './figures.ts';

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
  return (edges) =>
    readBuckets<ModelFigures>(edges, {
      add: addModelFigures,
      groups: async (range) =>
        (await groups.all(range)).map(({ group, ...figures }) => ({ group, figures })),
      async *tail(rows) {
        for (const { row, startedAt, group, attempts, ...sums } of await tail.all(rows)) {
          const { total, isComplete } = upstreamCost(attempts);
          const margin = isComplete ? subtract(sums.debited, total) : ZERO;
          const uncosted = isComplete ? 0 : 1;
          yield {
            row,
            startedAt,
            group,
            figures: { ...sums, upstreamCost: total, margin, uncosted },
          };
        }
      },
    });
}

export function addModelFigures(a: ModelFigures, b: ModelFigures): ModelFigures {
  return {
    ...addFigures(a, b),
    estimatedPromptTokens: a.estimatedPromptTokens + b.estimatedPromptTokens,
    upstreamCost: add(a.upstreamCost, b.upstreamCost),
    margin: add(a.margin, b.margin),
    uncosted: a.uncosted + b.uncosted,
  };
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
      row: rowOfRecord,
      startedAt: usageRecords.startedAt,
      group: modelOfRecord,
      attempts: usageRecords.attempts,
      estimatedPromptTokens: usageRecords.estimatedPromptTokens,
      ...figuresOfRecord,
    })
    .from(usageRecords)
    .where(and(gt(rowOfRecord, value('after')), lte(rowOfRecord, value('until'))))
    .prepare();
}
