// The books with public ids, for readers. Migrations create the views; each shows exactly the
// rows of `money-tables.ts`.

import { sqliteView, text } from 'drizzle-orm/sqlite-core';
import { BASES, DOUBTS, OUTCOMES } from '../core/generation.ts';
import type { Tokens } from '../core/money.ts';
import { REQUEST_FAILURES } from '../core/request-failure.ts';
import {
  amount,
  bytes,
  code,
  count,
  FORMATS,
  flag,
  HOLD_ENDS,
  instant,
  requestId,
  usdPerMillion,
} from './columns.ts';

/** The running requests. */
export const holds = sqliteView('holds', {
  requestId: requestId('request_id').notNull(),
  accountId: text('account_id').notNull(),
  keyId: text('key_id').notNull(),
  format: code(FORMATS)('format').notNull(),
  stream: flag().notNull(),
  endUser: text('end_user'),
  model: text().notNull(),
  priceVersion: text('price_version').notNull(),
  amount: amount().notNull(),
  worst: amount().notNull(),
  promptTokens: count('prompt_tokens').$type<Tokens>().notNull(),
  outputBound: count('output_bound').$type<Tokens>().notNull(),
  startedAt: instant('started_at').notNull(),
  /** Null where it belongs to no live node. */
  incarnation: text(),
  /** Null until the client has received content. */
  checkpointAt: instant('checkpoint_at'),
  upstream: text(),
  modelServed: text('model_served'),
  priceVersionServed: text('price_version_served'),
  outputTokens: count('output_tokens').notNull(),
  reasoningTokens: count('reasoning_tokens').notNull(),
}).existing();

/** The ended requests. */
export const usageRecords = sqliteView('usage_records', {
  /** Rises with every row that is committed. */
  number: count().notNull(),
  requestId: requestId('request_id').notNull(),
  accountId: text('account_id').notNull(),
  keyId: text('key_id').notNull(),
  format: code(FORMATS)('format').notNull(),
  stream: flag().notNull(),
  modelRequested: text('model_requested').notNull(),
  modelServed: text('model_served'),
  upstream: text(),
  outcome: code(OUTCOMES)('outcome').notNull(),
  ending: code(HOLD_ENDS)('ending').notNull(),
  inputTokens: count('input_tokens').notNull(),
  cachedInputTokens: count('cached_input_tokens').notNull(),
  cacheWriteTokens: count('cache_write_tokens').notNull(),
  outputTokens: count('output_tokens').notNull(),
  reasoningTokens: count('reasoning_tokens').notNull(),
  usageBasis: code(BASES)('usage_basis').notNull(),
  usageDoubt: code(DOUBTS)('usage_doubt'),
  estimatedPromptTokens: count('estimated_prompt_tokens').$type<Tokens>().notNull(),
  outputBound: count('output_bound').$type<Tokens>().notNull(),
  priceVersionRequested: text('price_version_requested').notNull(),
  priceVersionServed: text('price_version_served'),
  held: amount().notNull(),
  charged: amount().notNull(),
  debited: amount().notNull(),
  loss: amount().notNull(),
  endUser: text('end_user'),
  startedAt: instant('started_at').notNull(),
  endedAt: instant('ended_at').notNull(),
  usdPerMillion: usdPerMillion('usd_per_million').notNull(),
  sequence: count().notNull(),
  posted: amount().notNull(),
  reserved: amount().notNull(),
  hash: bytes().notNull(),
  report: bytes(),
  attempts: bytes(),
  /** Null for a request that did not fail. */
  failure: code(REQUEST_FAILURES)('failure'),
}).existing();

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
 * The books as double entry: two legs per transfer, which sum to zero. `ledgerAccount` is
 * `customer:<account id>` or one of `operator:credits`, `operator:promotion`,
 * `operator:adjustments`, `operator:revenue`, `operator:loss`.
 */
export const ledgerEntries = sqliteView('ledger_entries', {
  /** Null for a movement. */
  requestId: requestId('request_id'),
  /** Null for a request. */
  transferId: text('transfer_id'),
  ledgerAccount: text('ledger_account').notNull(),
  amount: amount().notNull(),
  kind: text().$type<EntryKind>().notNull(),
  at: instant().notNull(),
  reason: text(),
}).existing();
