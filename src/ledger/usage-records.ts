// Reads the usage records of a span of time one by one, so that a month of them need not fit into
// memory. Called by reports; it only reads.

import { and, eq, gt, gte, lt, lte, max } from 'drizzle-orm';
import type { Usage } from '../core/generation.ts';
import type { Micro } from '../core/money.ts';
import type { Database } from '../store/database.ts';
import { usageRecords } from '../store/money-tables.ts';
import { rowOfRecord } from './series/figures.ts';

/** What a request used and what was booked for it. */
export type UsedRequest = {
  /** Unix milliseconds; its prices are those of this instant. */
  readonly startedAt: number;
  readonly modelRequested: string;
  /** Absent where nothing answered: then nothing was charged. */
  readonly modelServed: string | undefined;
  readonly priceVersionRequested: string;
  readonly priceVersionServed: string | undefined;
  readonly usage: Usage;
  readonly charged: Micro;
  readonly loss: Micro;
};

/** Requests that started at or after `fromMs` and before `untilMs`, of one account or of all. */
export type UsageSpan = {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly accountId?: string | undefined;
  /** Only these, by their numbers: for whoever reads very many a few at a time. */
  readonly rows?: { readonly after: number; readonly until: number };
};

/** The number of the last record; 0 where there is none. Later ones have higher numbers. */
export function lastUsageRow({ db }: Database): number {
  const [last] = db
    .select({ row: max(rowOfRecord).mapWith(Number) })
    .from(usageRecords)
    .all();
  return last?.row ?? 0;
}

/** A row as SQLite gives it, under the names that the columns have there. */
type Row = {
  readonly started_at: bigint;
  readonly model_requested: string;
  readonly model_served: string | null;
  readonly price_version_requested: string;
  readonly price_version_served: string | null;
  readonly input_tokens: bigint;
  readonly cached_input_tokens: bigint;
  readonly cache_write_tokens: bigint;
  readonly output_tokens: bigint;
  readonly reasoning_tokens: bigint;
  readonly usage_basis: Usage['basis'];
  readonly charged: bigint;
  readonly loss: bigint;
};

/** One after the other, in no particular order, all as they were when the first was read. */
export function* eachUsedRequest(
  { db, connection }: Database,
  { fromMs, untilMs, accountId, rows }: UsageSpan,
): Generator<UsedRequest, void, undefined> {
  const { sql, params } = db
    .select({
      startedAt: usageRecords.startedAt,
      modelRequested: usageRecords.modelRequested,
      modelServed: usageRecords.modelServed,
      priceVersionRequested: usageRecords.priceVersionRequested,
      priceVersionServed: usageRecords.priceVersionServed,
      inputTokens: usageRecords.inputTokens,
      cachedInputTokens: usageRecords.cachedInputTokens,
      cacheWriteTokens: usageRecords.cacheWriteTokens,
      outputTokens: usageRecords.outputTokens,
      reasoningTokens: usageRecords.reasoningTokens,
      usageBasis: usageRecords.usageBasis,
      charged: usageRecords.charged,
      loss: usageRecords.loss,
    })
    .from(usageRecords)
    .where(
      and(
        gte(usageRecords.startedAt, fromMs),
        lt(usageRecords.startedAt, untilMs),
        accountId === undefined ? undefined : eq(usageRecords.accountId, accountId),
        rows && and(gt(rowOfRecord, rows.after), lte(rowOfRecord, rows.until)),
      ),
    )
    .toSQL();
  const statement = connection.prepare<Row, (number | string)[]>(sql);
  for (const row of statement.iterate(...(params as (number | string)[]))) yield fromRow(row);
}

function fromRow(row: Row): UsedRequest {
  return {
    startedAt: Number(row.started_at),
    modelRequested: row.model_requested,
    modelServed: row.model_served ?? undefined,
    priceVersionRequested: row.price_version_requested,
    priceVersionServed: row.price_version_served ?? undefined,
    usage: {
      inputTokens: Number(row.input_tokens),
      cachedInputTokens: Number(row.cached_input_tokens),
      cacheWriteTokens: Number(row.cache_write_tokens),
      outputTokens: Number(row.output_tokens),
      reasoningTokens: Number(row.reasoning_tokens),
      basis: row.usage_basis,
    },
    charged: row.charged,
    loss: row.loss,
  };
}
