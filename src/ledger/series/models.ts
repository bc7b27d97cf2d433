// Reads the usage of each model over all accounts, and what the operator earns with it, for the
// console. Includes records that are not rolled up, so numbers are exact at once. Read-only.

import { and, gte, lt, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { add, type Micro, ZERO } from '../../core/money.ts';
import type { Database } from '../../store/contract.ts';
import { usageRecords } from '../../store/money-views.ts';
import { usageModels } from '../../store/series-tables.ts';
import { wideSum } from '../../store/wide-sum.ts';
import { createAttemptReader } from './attempts.ts';
import { type Buckets, createBucketReader } from './buckets.ts';
import { costFigures } from './costs.ts';
import { type Figures, figuresOfRecord, modelOfRecord, sumFigures, sumsOf } from './figures.ts';
import { isInRows } from './statements.ts';

/** Amounts are in 10⁻⁶ service token. `loss` is the part of charges that accounts could not pay. */
export type ModelFigures = Figures & {
  /** The estimated prompt tokens, for comparison with `inputTokens`. */
  readonly estimatedPromptTokens: number;
  /** What upstreams charge for all attempts, as far as the catalog has prices. */
  readonly upstreamCost: Micro;
  /** Debited less upstream cost, over requests whose costs are all known. */
  readonly margin: Micro;
  /** Requests that the margin leaves out because a cost is unknown. */
  readonly uncosted: number;
};

/**
 * Spend, tokens, cost, margin and loss of each model, over all accounts. Buckets begin at `edges`,
 * ascending whole UTC hours; the last edge ends the last bucket, so two edges give totals. Groups
 * are models: the one that served or, if none did, the requested one; or the requested ones. A
 * request counts for the hour in which it started.
 */
type ReadModelSeries = (
  edges: readonly number[],
  by?: 'model' | 'requested',
) => Promise<Buckets<ModelFigures>>;

/** `database` is migrated. */
export function createModelSeriesReader(database: Database): ReadModelSeries {
  const readBuckets = createBucketReader(database);
  const groups = {
    model: prepareGroups(database, 'model'),
    requested: prepareGroups(database, 'requested'),
  };
  const tail = prepareTail(database);
  const readAttempts = createAttemptReader(database);
  return (edges, by = 'model') =>
    readBuckets<ModelFigures>(edges, {
      add: addModelFigures,
      async bucket(span) {
        const rows = await groups[by].all(span);
        return rows.map(({ group, ...figures }) => ({ group, figures }));
      },
      async *tail(rows) {
        const records = await tail.all(rows);
        const attempts = await readAttempts(records.map((record) => record.attempts));
        for (const [index, record] of records.entries()) {
          const { row, startedAt, model, requested, attempts: _, ...sums } = record;
          const group = by === 'model' ? model : requested;
          const figures = { ...sums, ...costFigures(sums.debited, attempts[index] ?? []) };
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

function prepareGroups({ db }: Database, by: 'model' | 'requested') {
  const count = (column: SQLiteColumn) => sql`sum(${column})`.mapWith(Number);
  return db
    .select({
      group: usageModels[by],
      ...sumsOf(usageModels),
      estimatedPromptTokens: count(usageModels.estimatedPromptTokens),
      upstreamCost: wideSum(usageModels.upstreamCost).as('upstream_cost'),
      margin: wideSum(usageModels.margin).as('margin'),
      uncosted: count(usageModels.uncosted),
    })
    .from(usageModels)
    .where(
      and(
        gte(usageModels.hour, sql.placeholder('fromMs')),
        lt(usageModels.hour, sql.placeholder('untilMs')),
      ),
    )
    .groupBy(usageModels[by])
    .prepare();
}

function prepareTail({ db }: Database) {
  return db
    .select({
      row: usageRecords.number,
      startedAt: usageRecords.startedAt,
      model: modelOfRecord,
      requested: usageRecords.modelRequested,
      attempts: usageRecords.attempts,
      estimatedPromptTokens: usageRecords.estimatedPromptTokens,
      ...figuresOfRecord,
    })
    .from(usageRecords)
    .where(isInRows(usageRecords.number))
    .prepare();
}
