// Every table without money: accounts and keys, blocks, the audit trail, settings, incidents, notes
// between a server and its commands, kept thinking. The books are in money-tables.ts.

import { sql } from 'drizzle-orm';
import { check, index, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { Standing } from '../core/admit.ts';
import { bytes, code, count, flag, instant, requestId, serial } from './columns.ts';

export const accounts = sqliteTable(
  'accounts',
  {
    id: text().primaryKey(),
    email: text().notNull(),
    plan: text().notNull(),
    planSince: instant('plan_since').notNull(),
    standing: text().$type<Standing>().notNull(),
    emailVerified: flag('email_verified').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    uniqueIndex('accounts_email').on(table.email),
    check(
      'accounts_standing',
      sql`${table.standing} in ('active', 'suspended', 'pending_deletion')`,
    ),
  ],
);

export type KeyRevocation = 'user' | 'rotated' | 'operator' | 'leak_report' | 'account_closed';

/** `runaway`: its spend was far above its habit. */
export type KeyPause = 'user' | 'operator' | 'runaway';

export const apiKeys = sqliteTable(
  'api_keys',
  {
    id: text().primaryKey(),
    accountId: text('account_id')
      .notNull()
      .references(() => accounts.id),
    /** SHA-256 of the whole key, lower-case hexadecimal. The key itself is not stored. */
    digest: text().notNull(),
    masked: text().notNull(),
    name: text(),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at'),
    revokedAt: instant('revoked_at'),
    revokedReason: text('revoked_reason').$type<KeyRevocation>(),
    rotatedFrom: text('rotated_from'),
    replacedBy: text('replaced_by'),
    lastUsedAt: instant('last_used_at'),
    /** The client's network address then. */
    lastUsedAddress: text('last_used_address'),
    /** The first key of its rotation, whose budget it shares; null for that key. */
    family: text(),
    /** JSON lists of model slugs and of networks in CIDR notation; null: any. */
    models: text(),
    networks: text(),
    pausedAt: instant('paused_at'),
    pausedReason: text('paused_reason').$type<KeyPause>(),
    /** Whether the runaway guard may pause it. */
    isGuarded: flag('is_guarded').notNull().default(sql`1`),
  },
  (table) => [
    uniqueIndex('api_keys_digest').on(table.digest),
    index('api_keys_account').on(table.accountId, table.createdAt),
  ],
);

export type BlockKind = 'account' | 'key' | 'network';

export const blocks = sqliteTable(
  'blocks',
  {
    id: text().primaryKey(),
    kind: text().$type<BlockKind>().notNull(),
    /** An account id, a key id, or a network address in CIDR notation. */
    value: text().notNull(),
    reason: text().notNull(),
    createdAt: instant('created_at').notNull(),
    /** Null: until it is removed. */
    expiresAt: instant('expires_at'),
  },
  (table) => [uniqueIndex('blocks_value').on(table.kind, table.value)],
);

/** Append-only. The two events of one rotation share an operation id. */
export const auditEvents = sqliteTable(
  'audit_events',
  {
    id: serial(),
    operationId: text('operation_id').notNull(),
    at: instant().notNull(),
    actor: text().notNull(),
    /** The client's network address; null for the command line. */
    address: text(),
    action: text().notNull(),
    accountId: text('account_id'),
    subject: text().notNull(),
    /** A JSON object; never a secret. */
    detail: text().notNull(),
  },
  (table) => [
    index('audit_events_account').on(table.accountId, table.id),
    // Operators search the whole trail by these; events are few but kept for years.
    index('audit_events_actor').on(table.actor, table.id),
    index('audit_events_action').on(table.action, table.id),
    index('audit_events_subject').on(table.subject, table.id),
  ],
);

/** Switches that an operator sets while the server runs: `maintenance`, `demo_account`, … */
export const settings = sqliteTable('settings', {
  name: text().primaryKey(),
  value: text().notNull(),
  updatedAt: instant('updated_at').notNull(),
});

/** Messages between a running server and commands. The next server ignores them, except `began`. */
export const serverNotes = sqliteTable('server_notes', {
  name: text()
    .$type<
      'began' | 'catalog' | 'catalog_reload' | 'catalog_text' | 'console' | 'audit' | 'audit_mark'
    >()
    .primaryKey(),
  value: text().notNull(),
  updatedAt: instant('updated_at').notNull(),
});

/** Reduced limits of a model during a capacity incident. */
export const incidentLimits = sqliteTable('incident_limits', {
  model: text().primaryKey(),
  requestsPerMinute: count('requests_per_minute'),
  tokensPerMinute: count('tokens_per_minute'),
  concurrentRequests: count('concurrent_requests'),
  reason: text().notNull(),
  updatedAt: instant('updated_at').notNull(),
});

/**
 * Thinking that led to tool calls, sealed, for clients that lose it between two turns. A row lives
 * for a day at most, and is useless without the secret.
 */
export const reasoning = sqliteTable(
  'reasoning',
  {
    id: serial(),
    accountId: text('account_id').notNull(),
    /** The lookup key: a keyed digest of the call that it led to. */
    digest: bytes().notNull(),
    createdAt: instant('created_at').notNull(),
    /** Its approximate size on disk, in bytes. */
    size: count().notNull(),
    sealed: bytes().notNull(),
  },
  (table) => [
    uniqueIndex('reasoning_digest').on(table.digest),
    // Finds the oldest row of an account and the sum of its sizes from the index alone.
    index('reasoning_account').on(table.accountId, table.id, table.size),
  ],
);

/**
 * running   the first request has placed its hold, and has not ended as far as this row knows
 * kept      it was charged, and the row has its answer
 * lost      it was charged, and its answer was too large or had to make room
 */
export type IdempotentState = 'running' | 'kept' | 'lost';

export const IDEMPOTENT_STATES: readonly IdempotentState[] = ['running', 'kept', 'lost'];

/**
 * Requests with an `Idempotency-Key`, and their sealed answers, for a day. A request that
 * is tried again has no row.
 */
export const idempotentRequests = sqliteTable(
  'idempotent_requests',
  {
    id: serial(),
    accountId: text('account_id').notNull(),
    /** The lookup key: a keyed digest of account, API key and `Idempotency-Key`. */
    digest: bytes().notNull(),
    /** A keyed digest of format and body. */
    fingerprint: bytes().notNull(),
    requestId: requestId('request_id').notNull(),
    /** The incarnation of the node that runs it. */
    owner: text().notNull(),
    state: code(IDEMPOTENT_STATES)('state').notNull(),
    /** When it was claimed and, once its request has ended, when that was. */
    createdAt: instant('created_at').notNull(),
    /** The length of the sealed answer, or 0. */
    size: count().notNull(),
    /** Null unless it is kept. */
    sealed: bytes(),
  },
  (table) => [
    uniqueIndex('idempotent_requests_digest').on(table.digest),
    // Finds the oldest answer of an account, and the sum of its sizes from the index alone.
    index('idempotent_requests_account').on(table.accountId, table.state, table.id, table.size),
    index('idempotent_requests_state').on(table.state, table.id),
  ],
);
