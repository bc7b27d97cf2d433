// Reads the usage of each model over all accounts, and what the operator earns with it, for the
// console. Includes records that are not rolled up, so numbers are exact at once. Read-only.

import { sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { add, type Micro, ZERO } from '../../core/money.ts';
import type { Database } from '../../store/contract.ts';
import { usageRecords } from '../../store/money-views.ts';
import { usageModels } from '../../store/series-tables.ts';
import { wideSum } from '../../store/wide-sum.ts';
import { PIECE_ROWS } from '../steps.ts';
import { createAttemptReader } from './attempts.ts';
import { type Buckets, createBucketReader } from './buckets.ts';
import { costFigures } from './costs.ts';
import {
  type Figures,
  figuresOfRecord,
  HOUR_MS,
  modelOfRecord,
  sumFigures,
  sumsOf,
} from './figures.ts';
import { isInRange, placeAt, prepareCut, rangeValues } from './places.ts';
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

/**
 * `database` is migrated; `monotonic` is a clock in milliseconds that never jumps; default: the
 * process's own. No statement sums more than `pageRows` rows.
 */
export function createModelSeriesReader(
  database: Database,
  monotonic?: () => number,
  pageRows: number = PIECE_ROWS,
): ReadModelSeries {
  const readBuckets = createBucketReader(database, monotonic);
  const newCut = prepareCut(database, usageModels, KEY, undefined, pageRows);
  const groups = prepareGroups(database, 'model');
  const tail = prepareTail(database);
  const readAttempts = createAttemptReader(database);
  const requestedGroups = prepareGroups(database, 'requested');
  return (edges, by = 'model') => {
    const cut = newCut({}, placeAt(0, KEY));
    return readBuckets<ModelFigures>(edges, {
      add: addModelFigures,
      async page({ fromMs, untilMs }, until = placeAt(untilMs, KEY)) {
        const first = placeAt(fromMs, KEY);
        const from = await cut(first, until);
        const statement = by === 'model' ? groups : requestedGroups;
        const rows = await statement.all(rangeValues({ from, until }));
        return {
          groups: rows.map(({ group, ...figures }) => ({ group, figures })),
          until,
          next: from === first ? undefined : from,
          rowMs: HOUR_MS,
        };
      },
      async *tail(rows) {
        const records = await tail.all(rows);
        const attempts = await readAttempts(records.map((record) => record.attempts));
        for (const [index, record] of records.entries()) {
          const { row, startedAt, model, requested, attempts: _, ...sums } = record;
          const group = by === 'model' ? model : requested;
          const figures = { ...sums, ...costFigures(sums.debited, attempts[index] ?? []) };
          yield { row, startedAt, texts: [model, requested], group, figures };
        }
      },
    });
  };
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

const KEY = [usageModels.hour, usageModels.model, usageModels.requested];

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
    .where(isInRange(KEY))
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
