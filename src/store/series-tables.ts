// Aggregated usage, so that pages need not read a million records: by hour, by end user and day,
// over all accounts, and how fast answers were. `ledger/series/` derives it from `usage_records`;
// it can be rebuilt.

import { primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { amount, bytes, count, instant } from './columns.ts';

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
 * One row per account, hour, models and key. `hour` is the beginning of the UTC hour in which a
 * request started; `model` is the one that served it or, if none did, the requested one.
 */
export const usageHours = sqliteTable(
  'usage_hours',
  {
    accountId: text('account_id').notNull(),
    hour: instant().notNull(),
    model: text().notNull(),
    requested: text().notNull(),
    keyId: text('key_id').notNull(),
    ...figures(),
  },
  ({ accountId, hour, model, requested, keyId }) => [
    primaryKey({ columns: [accountId, hour, model, requested, keyId] }),
  ],
);

/** The same per UTC day, so that months of a busy account are a few thousand rows. */
export const usageDays = sqliteTable(
  'usage_days',
  {
    accountId: text('account_id').notNull(),
    day: instant().notNull(),
    model: text().notNull(),
    requested: text().notNull(),
    keyId: text('key_id').notNull(),
    ...figures(),
  },
  ({ accountId, day, model, requested, keyId }) => [
    primaryKey({ columns: [accountId, day, model, requested, keyId] }),
  ],
);

/**
 * One row per account, UTC day, end user, models and key; `endUser` is empty for requests without
 * one.
 */
export const usageEndUsers = sqliteTable(
  'usage_end_users',
  {
    accountId: text('account_id').notNull(),
    day: instant().notNull(),
    endUser: text('end_user').notNull(),
    model: text().notNull(),
    requested: text().notNull(),
    keyId: text('key_id').notNull(),
    ...figures(),
  },
  ({ accountId, day, endUser, model, requested, keyId }) => [
    primaryKey({ columns: [accountId, day, endUser, model, requested, keyId] }),
  ],
);

/** One row per hour and models over all accounts, with what the operator pays for them. */
export const usageModels = sqliteTable(
  'usage_models',
  {
    hour: instant().notNull(),
    model: text().notNull(),
    requested: text().notNull(),
    ...figures(),
    estimatedPromptTokens: count('estimated_prompt_tokens').notNull(),
    /** What upstreams charged for all attempts, as far as the catalog has prices. */
    upstreamCost: amount('upstream_cost').notNull(),
    /** Debited less upstream cost, over requests whose costs are all known. */
    margin: amount().notNull(),
    /** Requests that the margin leaves out because a cost is unknown. */
    uncosted: count().notNull(),
  },
  (table) => [primaryKey({ columns: [table.hour, table.model, table.requested] })],
);

/**
 * How fast answers were and how attempts failed, per UTC hour and per UTC day (`length`, in
 * milliseconds), of a subject: the id of an account, or `upstream:` and the id of an upstream. For
 * an account, `model` is the one that served; for an upstream, the one that was called there. The blobs are packed histograms (`core/histogram.ts`); that of `failures` counts
 * classes by their place in `FAILURE_CLASSES`.
 */
export const usageSpeeds = sqliteTable(
  'usage_speeds',
  {
    subject: text().notNull(),
    length: count().notNull(),
    start: instant().notNull(),
    model: text().notNull(),
    /** Milliseconds until the first content, and until the end of complete answers. */
    firstContent: bytes('first_content').notNull(),
    duration: bytes().notNull(),
    /** Output tokens of complete answers, in ten seconds of their delivery. */
    speed: bytes().notNull(),
    /** Requests, or attempts that reached the upstream. */
    attempts: count().notNull(),
    failed: count().notNull(),
    failures: bytes().notNull(),
  },
  ({ subject, length, start, model }) => [primaryKey({ columns: [subject, length, start, model] })],
);

/** One row per account and UTC day, with what the operator pays for it. */
export const usageAccounts = sqliteTable(
  'usage_accounts',
  {
    accountId: text('account_id').notNull(),
    day: instant().notNull(),
    requests: count().notNull(),
    failed: count().notNull(),
    debited: amount().notNull(),
    upstreamCost: amount('upstream_cost').notNull(),
    margin: amount().notNull(),
    uncosted: count().notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.day] })],
);

/** The progress of the roll-up: one row, with the row number of the last record. */
export const usageMark = sqliteTable('usage_mark', {
  id: count().primaryKey(),
  lastRecord: count('last_record').notNull(),
});
