// Aggregated usage, so that pages need not read a million records: by hour, by end user and day,
// and over all accounts. `ledger/series/` derives it from `usage_records`; it can be rebuilt.

import { primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { amount, count, instant } from './columns.ts';

/** The sums of every grouping. */
const figures = () => ({
  requests: count().notNull(),
  /** How many ended in each way; all other requests completed. */
  stopped: count().notNull(),
  cancelled: count().notNull(),
  failed: count().notNull(),
  inputTokens: count('input_tokens').notNull(),
  cachedInputTokens: count('cached_input_tokens').notNull(),
  outputTokens: count('output_tokens').notNull(),
  reasoningTokens: count('reasoning_tokens').notNull(),
  charged: amount().notNull(),
  debited: amount().notNull(),
  loss: amount().notNull(),
});

/**
 * One row per account, hour, model and key. `hour` is the beginning of the UTC hour in which a
 * request started; `model` is the one that served it or, if none did, the requested one.
 */
export const usageHours = sqliteTable(
  'usage_hours',
  {
    accountId: text('account_id').notNull(),
    hour: instant().notNull(),
    model: text().notNull(),
    keyId: text('key_id').notNull(),
    ...figures(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.hour, table.model, table.keyId] })],
);

/** The same per UTC day, so that months of a busy account are a few thousand rows. */
export const usageDays = sqliteTable(
  'usage_days',
  {
    accountId: text('account_id').notNull(),
    day: instant().notNull(),
    model: text().notNull(),
    keyId: text('key_id').notNull(),
    ...figures(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.day, table.model, table.keyId] })],
);

/** One row per account, UTC day and end user; `endUser` is empty for requests without one. */
export const usageEndUsers = sqliteTable(
  'usage_end_users',
  {
    accountId: text('account_id').notNull(),
    day: instant().notNull(),
    endUser: text('end_user').notNull(),
    ...figures(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.day, table.endUser] })],
);

/** One row per hour and model over all accounts, with what the operator pays for it. */
export const usageModels = sqliteTable(
  'usage_models',
  {
    hour: instant().notNull(),
    model: text().notNull(),
    ...figures(),
    estimatedPromptTokens: count('estimated_prompt_tokens').notNull(),
    /** What upstreams charged for all attempts, as far as the catalog has prices. */
    upstreamCost: amount('upstream_cost').notNull(),
    /** Debited less upstream cost, over requests whose costs are all known. */
    margin: amount().notNull(),
    /** Requests that the margin leaves out because a cost is unknown. */
    uncosted: count().notNull(),
  },
  (table) => [primaryKey({ columns: [table.hour, table.model] })],
);

/** The progress of the roll-up: one row, with the row number of the last record. */
export const usageMark = sqliteTable('usage_mark', {
  id: count().primaryKey(),
  lastRecord: count('last_record').notNull(),
});
