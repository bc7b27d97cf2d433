// The books: prices, balances, holds, entries, usage records, receipts and codes. The ledger alone
// writes them, and triggers refuse what it never does.

import { sql } from 'drizzle-orm';
import { check, index, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { ClientFormatName } from '../core/admit.ts';
import type { Outcome, Usage, UsageDoubt } from '../core/generation.ts';
import type { Tokens } from '../core/money.ts';
import { amount, count, flag, instant, LARGEST, price, serial } from './columns.ts';
import { accounts } from './tables.ts';

/** Every price that a request was ever held at. Rows are added, never changed. */
export const priceVersions = sqliteTable('price_versions', {
  version: text().primaryKey(),
  model: text().notNull(),
  input: price().notNull(),
  cachedInput: price('cached_input').notNull(),
  cacheWrite: price('cache_write').notNull(),
  output: price().notNull(),
  firstUsedAt: instant('first_used_at').notNull(),
});

/** Derived from entries and open holds, and checked against them by `tollgate doctor`. */
export const balances = sqliteTable(
  'balances',
  {
    accountId: text('account_id')
      .primaryKey()
      .references(() => accounts.id),
    posted: amount().notNull(),
    held: amount().notNull(),
    /** Charges that the account could not pay, less what it was credited since. */
    unpaid: amount().notNull().default(sql`0`),
  },
  (table) => [
    check('balances_posted', sql`${table.posted} between 0 and ${LARGEST}`),
    check('balances_held', sql`${table.held} between 0 and ${table.posted}`),
  ],
);

/**
 * held         money is reserved, nothing of an answer has been delivered
 * dispatched   content has been delivered: from here on there is something to pay
 * settled, released   how its request ended it: with a charge or without one
 * expired      ended by the gateway, because nobody was left who would
 */
export type HoldPhase = 'held' | 'dispatched' | 'settled' | 'released' | 'expired';

/** One row a request that was admitted: all that is needed to end it when its process has died. */
export const holds = sqliteTable(
  'holds',
  {
    requestId: text('request_id').primaryKey(),
    accountId: text('account_id').notNull(),
    keyId: text('key_id').notNull(),
    format: text().$type<ClientFormatName>().notNull(),
    stream: flag().notNull(),
    endUser: text('end_user'),
    model: text().notNull(),
    priceVersion: text('price_version').notNull(),
    /** All that is reserved now: the first slice and every one that was bought since. */
    amount: amount().notNull(),
    /** What it may be charged in the worst case; `amount` where that is more. */
    worst: amount().notNull().default(sql`0`),
    promptTokens: count('prompt_tokens').$type<Tokens>().notNull(),
    outputBound: count('output_bound').$type<Tokens>().notNull(),
    phase: text().$type<HoldPhase>().notNull(),
    /** Of the upstream that serves, since the hold is `dispatched`. */
    upstream: text(),
    modelServed: text('model_served'),
    priceVersionServed: text('price_version_served'),
    /** Output that had passed at the last checkpoint, by the gateway's own count. */
    outputTokens: count('output_tokens').notNull(),
    reasoningTokens: count('reasoning_tokens').notNull(),
    createdAt: instant('created_at').notNull(),
    dispatchedAt: instant('dispatched_at'),
    checkpointAt: instant('checkpoint_at'),
    endedAt: instant('ended_at'),
    /** Of the node that made it and will end it; empty: of nobody who is known to live. */
    boot: text().notNull().default(''),
  },
  (table) => [
    index('holds_open').on(table.accountId).where(sql`${table.endedAt} is null`),
    check('holds_amount', sql`${table.amount} between 0 and ${LARGEST}`),
    check(
      'holds_phase',
      sql`${table.phase} in ('held', 'dispatched', 'settled', 'released', 'expired')`,
    ),
  ],
);

/**
 * credit       money that the customer paid in
 * grant        money that the operator gave away
 * redemption   a code that the customer redeemed
 * adjustment   a correction by the operator, up or down
 * settle       what a request was charged and the account paid
 * loss         the part of a charge that the account could not pay
 */
export type EntryKind = 'credit' | 'grant' | 'redemption' | 'adjustment' | 'settle' | 'loss';

/**
 * The double-entry ledger: append-only (triggers refuse UPDATE and DELETE), two legs a transfer,
 * each transfer summing to zero. `ledgerAccount` is `customer:<account id>` or one of
 * `operator:credits`, `operator:promotion`, `operator:adjustments`, `operator:revenue`,
 * `operator:loss`.
 */
export const ledgerEntries = sqliteTable(
  'ledger_entries',
  {
    id: serial(),
    transferId: text('transfer_id').notNull(),
    ledgerAccount: text('ledger_account').notNull(),
    amount: amount().notNull(),
    kind: text().$type<EntryKind>().notNull(),
    at: instant().notNull(),
    reason: text(),
  },
  (table) => [
    uniqueIndex('ledger_entries_transfer').on(table.transferId, table.ledgerAccount),
    check('ledger_entries_amount', sql`${table.amount} between -${LARGEST} and ${LARGEST}`),
  ],
);

/** One row a dispatched request: what it was, how it ended, what it cost and why. */
export const usageRecords = sqliteTable(
  'usage_records',
  {
    requestId: text('request_id').primaryKey(),
    accountId: text('account_id').notNull(),
    keyId: text('key_id').notNull(),
    format: text().$type<ClientFormatName>().notNull(),
    stream: flag().notNull(),
    modelRequested: text('model_requested').notNull(),
    modelServed: text('model_served'),
    upstream: text(),
    outcome: text().$type<Outcome>().notNull(),
    inputTokens: count('input_tokens').notNull(),
    cachedInputTokens: count('cached_input_tokens').notNull(),
    cacheWriteTokens: count('cache_write_tokens').notNull(),
    outputTokens: count('output_tokens').notNull(),
    reasoningTokens: count('reasoning_tokens').notNull(),
    usageBasis: text('usage_basis').$type<Usage['basis']>().notNull(),
    /** What the upstream reported, as it wrote it; numbers alone. Null where it reported nothing. */
    rawUsage: text('raw_usage'),
    /** What was wrong with that; null where nothing was. */
    usageDoubt: text('usage_doubt').$type<UsageDoubt>(),
    estimatedPromptTokens: count('estimated_prompt_tokens').notNull(),
    priceVersionRequested: text('price_version_requested').notNull(),
    priceVersionServed: text('price_version_served'),
    held: amount().notNull(),
    charged: amount().notNull(),
    debited: amount().notNull(),
    loss: amount().notNull(),
    endUser: text('end_user'),
    /** A JSON array of the attempts, as `generate/attempt-log.ts` records them; members may lack. */
    attempts: text().notNull(),
    startedAt: instant('started_at').notNull(),
    endedAt: instant('ended_at').notNull(),
  },
  (table) => [index('usage_records_account').on(table.accountId, table.startedAt)],
);

/**
 * What each account was told of its money, request by request and credit by credit: a chain, in
 * which each link holds the hash of the one before it. Append-only, like the entries.
 */
export const receipts = sqliteTable(
  'receipts',
  {
    accountId: text('account_id').notNull(),
    /** 1, 2, 3, … within the account, without gaps. */
    sequence: count().notNull(),
    /** The request id, or the transfer id of a movement that no request made. */
    subject: text().notNull(),
    at: instant().notNull(),
    /** The receipt itself, as the JSON text that the hash is made of. */
    body: text().notNull(),
    /** SHA-256 of `body`, lower-case hexadecimal; the next body names it as `previous`. */
    hash: text().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.sequence] }),
    uniqueIndex('receipts_subject').on(table.subject),
    // The few that no request made; those of requests are not in it, so that they cost nothing more.
    index('receipts_movements')
      .on(table.accountId, table.sequence)
      .where(sql`substr(${table.subject}, 1, 4) <> 'req_'`),
  ],
);

/** Codes that are worth money once. The code itself is stored nowhere. */
export const redemptionCodes = sqliteTable(
  'redemption_codes',
  {
    /** SHA-256 of the code in its normal form, lower-case hexadecimal. */
    digest: text().primaryKey(),
    /** The first characters, by which people tell codes apart. */
    masked: text().notNull(),
    amount: amount().notNull(),
    reason: text().notNull(),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at'),
    revokedAt: instant('revoked_at'),
    redeemedAt: instant('redeemed_at'),
    redeemedBy: text('redeemed_by'),
  },
  (table) => [check('redemption_codes_amount', sql`${table.amount} between 1 and ${LARGEST}`)],
);
