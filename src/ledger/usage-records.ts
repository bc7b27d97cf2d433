// Reads the usage records of a span of time one by one, so that a month of them need not fit into
// memory. Called by reports; it only reads.

import { and, eq, gt, gte, lt, lte, max } from 'drizzle-orm';
import type { Usage } from '../core/generation.ts';
import type { Micro } from '../core/money.ts';
import type { Database } from '../store/contract.ts';
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
type UsageSpan = {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly accountId?: string | undefined;
  /** Only these, by their numbers: for whoever reads very many a few at a time. */
  readonly rows?: { readonly after: number; readonly until: number };
};

/** The number of the last record; 0 where there is none. Later ones have higher numbers. */
export async function lastUsageRow({ db }: Database): Promise<number> {
  const [last] = await db
    .select({ row: max(rowOfRecord).mapWith(Number) })
    .from(usageRecords)
    .all();
  return last?.row ?? 0;
}

/** Records that are read at once. */
const PAGE_ROWS = 2_000;

/** One after the other, in the order of their numbers, up to the last that there is at first. */
export async function* eachUsedRequest(
  database: Database,
  { fromMs, untilMs, accountId, rows }: UsageSpan,
): AsyncGenerator<UsedRequest, void, undefined> {
  const until = rows?.until ?? (await lastUsageRow(database));
  for (let after = rows?.after ?? 0; after < until; after += PAGE_ROWS) {
    yield* await database.db
      .select(USED)
      .from(usageRecords)
      .where(
        and(
          gt(rowOfRecord, after),
          lte(rowOfRecord, Math.min(after + PAGE_ROWS, until)),
          gte(usageRecords.startedAt, fromMs),
          lt(usageRecords.startedAt, untilMs),
          accountId === undefined ? undefined : eq(usageRecords.accountId, accountId),
        ),
      )
      .then((page) => page.map(fromRow));
  }
}

/** The columns of what a request used, to be selected. */
export const USAGE_OF_RECORD = {
  inputTokens: usageRecords.inputTokens,
  cachedInputTokens: usageRecords.cachedInputTokens,
  cacheWriteTokens: usageRecords.cacheWriteTokens,
  outputTokens: usageRecords.outputTokens,
  reasoningTokens: usageRecords.reasoningTokens,
  usageBasis: usageRecords.usageBasis,
};

const USED = {
  ...USAGE_OF_RECORD,
  startedAt: usageRecords.startedAt,
  modelRequested: usageRecords.modelRequested,
  modelServed: usageRecords.modelServed,
  priceVersionRequested: usageRecords.priceVersionRequested,
  priceVersionServed: usageRecords.priceVersionServed,
  charged: usageRecords.charged,
  loss: usageRecords.loss,
};

type Row = Pick<typeof usageRecords.$inferSelect, keyof typeof USED>;

function fromRow(row: Row): UsedRequest {
  return {
    startedAt: row.startedAt,
    modelRequested: row.modelRequested,
    modelServed: row.modelServed ?? undefined,
    priceVersionRequested: row.priceVersionRequested,
    priceVersionServed: row.priceVersionServed ?? undefined,
    usage: {
      inputTokens: row.inputTokens,
      cachedInputTokens: row.cachedInputTokens,
      cacheWriteTokens: row.cacheWriteTokens,
      outputTokens: row.outputTokens,
      reasoningTokens: row.reasoningTokens,
      basis: row.usageBasis,
    },
    charged: row.charged,
    loss: row.loss,
  };
}
