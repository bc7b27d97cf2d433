// The tables of the operators: what waits for a second operator, raised alerts, and the tokens of the
// operators' API.

import { index, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { amount, count, instant, serial } from './columns.ts';

/**
 * pending     waits for a second operator
 * approved    decided, and not carried out yet: a movement that is being booked, codes that their
 *             operator has not created yet
 * done        carried out
 * failed      approved, and refused by the ledger
 */
export type ApprovalState = 'pending' | 'approved' | 'done' | 'failed' | 'rejected' | 'withdrawn';

export const approvals = sqliteTable(
  'approvals',
  {
    number: serial('number'),
    id: text().notNull(),
    kind: text().$type<'movement' | 'codes'>().notNull(),
    /** Null for codes. */
    accountId: text('account_id'),
    /** One request: the id of the movement, or the approval's own id. */
    key: text().notNull(),
    /** The total; negative for a correction downwards. */
    amount: amount().notNull(),
    /** What was asked for, as JSON. */
    request: text().notNull(),
    /** The id of the user, and the actor's name as in the audit trail. */
    askedBy: text('asked_by').notNull(),
    askedByName: text('asked_by_name').notNull(),
    askedAt: instant('asked_at').notNull(),
    /** Until when it may be approved and, for codes, carried out. */
    expiresAt: instant('expires_at').notNull(),
    state: text().$type<ApprovalState>().notNull(),
    decidedByName: text('decided_by_name'),
    decidedAt: instant('decided_at'),
    /** Why it was rejected or has failed. */
    note: text(),
  },
  (table) => [
    uniqueIndex('approvals_id').on(table.id),
    uniqueIndex('approvals_key').on(table.key),
    index('approvals_expiry').on(table.expiresAt),
  ],
);

/** One row per kind and subject of an alert, over all nodes. */
export const alerts = sqliteTable(
  'alerts',
  {
    id: text().primaryKey(),
    kind: text().notNull(),
    subject: text().notNull(),
    /** The latest alert, as JSON (`core/alert.ts`). */
    alert: text().notNull(),
    count: count().notNull(),
    firstAt: instant('first_at').notNull(),
    lastAt: instant('last_at').notNull(),
    acknowledgedAt: instant('acknowledged_at'),
    /** The actor's name, as in the audit trail. */
    acknowledgedBy: text('acknowledged_by'),
  },
  (table) => [
    uniqueIndex('alerts_subject').on(table.kind, table.subject),
    index('alerts_last').on(table.lastAt),
  ],
);

/** Tokens of the operators' API. The token itself is not stored. */
export const operatorTokens = sqliteTable(
  'operator_tokens',
  {
    id: text().primaryKey(),
    /** SHA-256 of the whole token, lower-case hexadecimal. */
    digest: text().notNull(),
    masked: text().notNull(),
    name: text().notNull(),
    /** A JSON list (`core/operator-scope.ts`). */
    scopes: text().notNull(),
    createdAt: instant('created_at').notNull(),
    /** For whom it acts, by the actor's name of the audit trail: its creator, or whom it was made for. */
    createdBy: text('created_by').notNull(),
    expiresAt: instant('expires_at').notNull(),
    revokedAt: instant('revoked_at'),
    lastUsedAt: instant('last_used_at'),
  },
  (table) => [uniqueIndex('operator_tokens_digest').on(table.digest)],
);
