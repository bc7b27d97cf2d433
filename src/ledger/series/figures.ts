// Defines the figures of the series and how they are summed, from records and from rows that hold
// sums. Used by everything in this folder; contains only query parts.

import { inArray, type SQL, sql } from 'drizzle-orm';
import type { Outcome } from '../../core/generation.ts';
import { add, type Micro, ZERO } from '../../core/money.ts';
import { usageRecords } from '../../store/money-views.ts';
import type {
  usageDays,
  usageEndUsers,
  usageHours,
  usageModels,
} from '../../store/series-tables.ts';
import { readWideSum, wideSum } from '../../store/wide-sum.ts';

export type Figures = {
  readonly requests: number;
  /** How many ended in each way; all other requests completed. */
  readonly stopped: number;
  readonly cancelled: number;
  readonly failed: number;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly charged: Micro;
  readonly debited: Micro;
  readonly loss: Micro;
};

/** Sums tens of thousands of figures, so it adds to one object. */
export function sumFigures(many: readonly Figures[]): Figures {
  const sum = {
    requests: 0,
    stopped: 0,
    cancelled: 0,
    failed: 0,
    inputTokens: 0,
    cachedInputTokens: 0,
    outputTokens: 0,
    reasoningTokens: 0,
    charged: ZERO,
    debited: ZERO,
    loss: ZERO,
  };
  for (const figures of many) {
    sum.requests += figures.requests;
    sum.stopped += figures.stopped;
    sum.cancelled += figures.cancelled;
    sum.failed += figures.failed;
    sum.inputTokens += figures.inputTokens;
    sum.cachedInputTokens += figures.cachedInputTokens;
    sum.outputTokens += figures.outputTokens;
    sum.reasoningTokens += figures.reasoningTokens;
    sum.charged = add(sum.charged, figures.charged);
    sum.debited = add(sum.debited, figures.debited);
    sum.loss = add(sum.loss, figures.loss);
  }
  return sum;
}

export function addFigures(a: Figures, b: Figures): Figures {
  return sumFigures([a, b]);
}

/** Reads the sums of a row, in the order of `Figures`, from column `at` on. */
export function figuresAt(row: readonly unknown[], at: number): Figures {
  const count = (index: number) => Number(row[at + index]);
  const amount = (index: number) => readWideSum(row[at + index]);
  return {
    requests: count(0),
    stopped: count(1),
    cancelled: count(2),
    failed: count(3),
    inputTokens: count(4),
    cachedInputTokens: count(5),
    outputTokens: count(6),
    reasoningTokens: count(7),
    charged: amount(8),
    debited: amount(9),
    loss: amount(10),
  };
}

export const HOUR_MS = 3_600_000;

/** The beginning of the hour in which a request started. */
export const hourOfRecord =
  sql`${usageRecords.startedAt} - ${usageRecords.startedAt} % ${sql.raw(String(HOUR_MS))}`.mapWith(
    Number,
  );

/** The model that a request counts for: the one that served or, if none did, the requested one. */
export const modelOfRecord = sql<string>`coalesce(${usageRecords.modelServed}, ${usageRecords.modelRequested})`;

const isOutcome = (...outcomes: Outcome[]) =>
  sql`case when ${inArray(usageRecords.outcome, outcomes)} then 1 else 0 end`;

/** What one record adds to each figure. */
const EACH: Readonly<Record<keyof Figures, SQL>> = {
  requests: sql`1`,
  stopped: isOutcome('stopped_balance'),
  cancelled: isOutcome('client_cancelled'),
  failed: isOutcome('upstream_failed', 'gateway_failed'),
  inputTokens: sql`${usageRecords.inputTokens}`,
  cachedInputTokens: sql`${usageRecords.cachedInputTokens}`,
  outputTokens: sql`${usageRecords.outputTokens}`,
  reasoningTokens: sql`${usageRecords.reasoningTokens}`,
  charged: sql`${usageRecords.charged}`,
  debited: sql`${usageRecords.debited}`,
  loss: sql`${usageRecords.loss}`,
};

/** Selects the figures of one record. */
export const figuresOfRecord = typed((name) => EACH[name]);

export type Series =
  | typeof usageHours
  | typeof usageDays
  | typeof usageEndUsers
  | typeof usageModels;

/** Selects the summed figures of a group. */
export function sumsOf(table: Series) {
  const counts = typed((name) => sql`coalesce(sum(${table[name]}), 0)`);
  const { charged, debited, loss } = table;
  return {
    ...counts,
    charged: wideSum(charged).as('charged'),
    debited: wideSum(debited).as('debited'),
    loss: wideSum(loss).as('loss'),
  };
}

/** For an upsert: adds the figures of the rejected row to the existing one. */
export function addExcluded<Name extends string>(
  table: Readonly<Record<Name, { readonly name: string }>>,
  names: readonly Name[],
): Record<Name, SQL> {
  const sums = names.map((name) => {
    const column = table[name];
    return [name, sql`${column} + excluded.${sql.identifier(column.name)}`];
  });
  return Object.fromEntries(sums) as Record<Name, SQL>;
}

function typed(expression: (name: keyof Figures) => SQL) {
  const count = (name: keyof Figures) => expression(name).mapWith(Number).as(name);
  const amount = (name: 'charged' | 'debited' | 'loss') =>
    expression(name).mapWith(usageRecords[name]).as(name);
  return {
    requests: count('requests'),
    stopped: count('stopped'),
    cancelled: count('cancelled'),
    failed: count('failed'),
    inputTokens: count('inputTokens'),
    cachedInputTokens: count('cachedInputTokens'),
    outputTokens: count('outputTokens'),
    reasoningTokens: count('reasoningTokens'),
    charged: amount('charged'),
    debited: amount('debited'),
    loss: amount('loss'),
  };
}
