// Usage added up, so that pages need not read a million records: by hour, by end user and day, and
// over all accounts. Derived from `usage_records` by `ledger/series/` and worth nothing without them.

import { primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { amount, count, instant } from './columns.ts';

/** What is added up of every request, whatever it is grouped by. */
const figures = () => ({
  requests: count().notNull(),
  /** Of those, how many ended in each way; all others were completed. */
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
 * One row an account, hour, model and key. `hour` is the beginning of the UTC hour in which a request
 * started; `model` is the one that served it or, where nobody did, the one that was asked for.
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

/** The same by UTC day, so that months of a busy account are a few thousand rows. */
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

/** One row an account, UTC day and end user; `endUser` is empty where a request named none. */
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

/** One row an hour and model, of all accounts together, with what the operator pays for it. */
export const usageModels = sqliteTable(
  'usage_models',
  {
    hour: instant().notNull(),
    model: text().notNull(),
    ...figures(),
    estimatedPromptTokens: count('estimated_prompt_tokens').notNull(),
    /** What upstreams asked for all attempts, as far as the catalog knew it. */
    upstreamCost: amount('upstream_cost').notNull(),
    /** Debited less that cost, of the requests of which every cost is known. */
    margin: amount().notNull(),
    /** How many requests are left out of the margin, because a cost of theirs is not known. */
    uncosted: count().notNull(),
  },
  (table) => [primaryKey({ columns: [table.hour, table.model] })],
);

/** How far the records have been added up: one row, with the row number of the last one. */
export const usageMark = sqliteTable('usage_mark', {
  id: count().primaryKey(),
  lastRecord: count('last_record').notNull(),
});
