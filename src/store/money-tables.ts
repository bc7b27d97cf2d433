// The books: prices, balances, open holds, one row per ended request, movements and codes. Only the
// ledger writes them; checks and triggers reject everything else. Rows reference accounts, prices
// and texts by small numbers; `money-views.ts` shows them with public ids.

import { sql } from 'drizzle-orm';
import { check, index, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { BASES, DOUBTS, OUTCOMES } from '../core/generation.ts';
import type { Tokens } from '../core/money.ts';
import { MOVEMENT_KINDS } from '../core/receipt.ts';
import {
  amount,
  bytes,
  code,
  count,
  FORMATS,
  flag,
  instant,
  LARGEST,
  price,
  priceTerms,
  requestId,
  serial,
  usdPerMillion,
} from './columns.ts';
import { accounts } from './tables.ts';

/** Texts that rows reference by number: ids of keys and upstreams, slugs, shapes of reports. */
export const texts = sqliteTable(
  'texts',
  { number: serial('number'), text: text().notNull() },
  (table) => [uniqueIndex('texts_text').on(table.text)],
);

/** Every price at which a request was held. Append-only. */
export const priceVersions = sqliteTable(
  'price_versions',
  {
    number: serial('number'),
    version: text().notNull(),
    model: text().notNull(),
    input: price().notNull(),
    cachedInput: price('cached_input').notNull(),
    cacheWrite: price('cache_write').notNull(),
    output: price().notNull(),
    firstUsedAt: instant('first_used_at').notNull(),
    /** Null for a price of four rates. */
    terms: priceTerms(),
  },
  (table) => [
    uniqueIndex('price_versions_version').on(table.version),
    check(
      'price_versions_sound',
      sql`${table.input} >= 0 and ${table.cachedInput} >= 0
        and ${table.cacheWrite} >= 0 and ${table.output} >= 0`,
    ),
  ],
);

/**
 * The balances of accounts: derived from requests, movements and open holds, and checked against
 * them by `tollgate doctor`. The row number stands for the account in all other tables of the
 * books.
 */
export const balances = sqliteTable(
  'balances',
  {
    number: serial('number'),
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    posted: amount().notNull(),
    held: amount().notNull(),
    /** Charges that the account could not pay, less later credits. */
    unpaid: amount().notNull().default(sql`0`),
    /** The number of receipts. */
    sequence: count().notNull().default(sql`0`),
    /** SHA-256 of the last receipt; null before the first. */
    head: bytes(),
    /** The balance on the last receipt: the chain stays consistent where `posted` is wrong. */
    receipted: amount().notNull().default(sql`0`),
    /** The number of its rows in `key_budgets`: most accounts have none to read. */
    budgets: count().notNull().default(sql`0`),
  },
  (table) => [
    uniqueIndex('balances_account').on(table.accountId),
    check('balances_posted', sql`${table.posted} between 0 and ${LARGEST}`),
    check('balances_held', sql`${table.held} between 0 and ${table.posted}`),
  ],
);

/**
 * What keys may spend and have spent. A key and its replacements share one row, which stays when
 * its limits are removed. Every change also changes the row of the account in `balances`.
 */
export const keyBudgets = sqliteTable(
  'key_budgets',
  {
    number: serial('number'),
    account: count().notNull(),
    /** The first key of the rotation, a number in `texts`. */
    family: count().notNull(),
    /** Null: no limit. */
    limitTotal: amount('limit_total'),
    limitDay: amount('limit_day'),
    limitMonth: amount('limit_month'),
    spentTotal: amount('spent_total').notNull(),
    /** The UTC day of the last charge by its first millisecond, and what was charged on it. */
    day: instant().notNull(),
    spentDay: amount('spent_day').notNull(),
    month: instant().notNull(),
    spentMonth: amount('spent_month').notNull(),
  },
  (table) => [
    uniqueIndex('key_budgets_family').on(table.family),
    index('key_budgets_account').on(table.account),
    check(
      'key_budgets_sound',
      sql`${table.spentDay} between 0 and ${table.spentTotal}
        and ${table.spentMonth} between 0 and ${table.spentTotal}`,
    ),
  ],
);

/**
 * Columns of open and ended requests. Numbers refer to `balances`, `texts` and `price_versions`.
 */
const asked = () => ({
  account: count().notNull(),
  key: count().notNull(),
  format: code(FORMATS)('format').notNull(),
  stream: flag().notNull(),
  /** The slug in the request. */
  model: count().notNull(),
  price: count().notNull(),
  /** The prompt by our own estimate. */
  promptTokens: count('prompt_tokens').$type<Tokens>().notNull(),
  outputBound: count('output_bound').$type<Tokens>().notNull(),
  startedAt: instant('started_at').notNull(),
  endUser: text('end_user'),
});

/** One row per running request: enough to end it when its process has died. */
export const openHolds = sqliteTable(
  'open_holds',
  {
    id: requestId('id').primaryKey(),
    ...asked(),
    /** The total reserved now: the first slice and every one that was bought since. */
    amount: amount().notNull(),
    /** Its maximum charge. */
    worst: amount().notNull(),
    /** The incarnation of the node that will end it; null: no live node. */
    incarnation: count(),
    /**
     * Set from the first delivered content on: the model and upstream that serve, and what was
     * delivered.
     */
    checkpointAt: instant('checkpoint_at'),
    upstream: count(),
    modelServed: count('model_served'),
    priceServed: count('price_served'),
    outputTokens: count('output_tokens').notNull(),
    reasoningTokens: count('reasoning_tokens').notNull(),
    /** The first key of the rotation that its key is part of; null: its key. */
    family: count(),
    /** What it reserves of its key's budget: the most that it can cost; null without a budget. */
    budgeted: amount(),
  },
  (table) => [
    index('open_holds_account').on(table.account),
    check('open_holds_amount', sql`${table.amount} between 0 and ${LARGEST}`),
    check(
      'open_holds_sound',
      sql`${table.worst} >= ${table.amount} and ${table.promptTokens} >= 0 and ${table.outputBound} >= 0`,
    ),
  ],
);

/**
 * One row per ended request: its facts, its usage, both legs of its settlement, and its receipt as
 * a number and a hash. Append-only.
 */
export const requests = sqliteTable(
  'requests',
  {
    number: serial('number'),
    id: requestId('id').notNull(),
    ...asked(),
    durationMs: count('duration_ms').notNull(),
    outcome: code(OUTCOMES)('outcome').notNull(),
    /** How its hold ended, and what the client of a failed one received (`endingCode`). */
    ending: count().notNull(),
    /** Null where no upstream answered. */
    upstream: count(),
    modelServed: count('model_served'),
    priceServed: count('price_served'),
    inputTokens: count('input_tokens').notNull(),
    cachedInputTokens: count('cached_input_tokens').notNull(),
    cacheWriteTokens: count('cache_write_tokens').notNull(),
    outputTokens: count('output_tokens').notNull(),
    reasoningTokens: count('reasoning_tokens').notNull(),
    basis: code(BASES)('basis').notNull(),
    doubt: code(DOUBTS)('doubt'),
    held: amount().notNull(),
    charged: amount().notNull(),
    /** The part of the charge that the account could not pay; the rest was debited. */
    loss: amount().notNull(),
    usdPerMillion: usdPerMillion('usd_per_million').notNull(),
    /** 1, 2, 3, … over all receipts of the account, without gaps. */
    sequence: count().notNull(),
    /** The balance on the receipt, and how much of it other requests held. */
    posted: amount().notNull(),
    reserved: amount().notNull(),
    /** SHA-256 of the receipt's text (`core/receipt.ts`). */
    hash: bytes().notNull(),
    /** The reported usage (`core/usage-details.ts`). */
    report: bytes(),
    /** The attempts, packed the same way. */
    attempts: bytes(),
  },
  (table) => [
    uniqueIndex('requests_id').on(table.id),
    uniqueIndex('requests_receipt').on(table.account, table.sequence),
    index('requests_account').on(table.account, table.startedAt),
    check(
      'requests_sound',
      sql`${table.loss} between 0 and ${table.charged} and ${table.held} between 0 and ${LARGEST}
        and ${table.inputTokens} >= 0 and ${table.cachedInputTokens} >= 0
        and ${table.cacheWriteTokens} >= 0 and ${table.outputTokens} >= 0
        and ${table.reasoningTokens} >= 0`,
    ),
  ],
);

/**
 * One row per movement of money without a request: a credit, a grant, a code, a correction. They
 * stay for ever: a repeated credit is recognized by its row.
 */
export const movements = sqliteTable(
  'movements',
  {
    number: serial('number'),
    /** The unique id: `credit:` or `redemption:` and the caller's id. */
    transferId: text('transfer_id').notNull(),
    account: count().notNull(),
    kind: code(MOVEMENT_KINDS)('kind').notNull(),
    amount: amount().notNull(),
    at: instant().notNull(),
    reason: text().notNull(),
    sequence: count().notNull(),
    posted: amount().notNull(),
    reserved: amount().notNull(),
    /** The hash of the receipt before it, whose row may be archived; null for the first one. */
    previous: bytes(),
    hash: bytes().notNull(),
  },
  (table) => [
    uniqueIndex('movements_transfer').on(table.transferId),
    uniqueIndex('movements_receipt').on(table.account, table.sequence),
    check('movements_amount', sql`${table.amount} between -${LARGEST} and ${LARGEST}`),
  ],
);

/** Codes that can be redeemed once. The code itself is not stored. */
export const redemptionCodes = sqliteTable(
  'redemption_codes',
  {
    /** SHA-256 of the normalized code, lower-case hexadecimal. */
    digest: text().primaryKey(),
    /** The first characters, which identify a code in lists. */
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
