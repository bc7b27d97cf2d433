// The tables of sign-in, for customers and operators: users, sessions and factors. A leaked copy
// gives no access: passwords, cookies, recovery codes and mailed tokens are digests, and secrets of
// second factors are sealed. Digests of cookies and recovery codes are keyed with the session
// secret, so forged rows give no access either, and a new secret invalidates them all.

import { sql } from 'drizzle-orm';
import { check, index, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { Role } from '../core/role.ts';
import { bytes, count, flag, instant } from './columns.ts';
import { accounts } from './tables.ts';

/** Customers and operators sign in to different applications; no query mixes them. */
const realm = () => text().$type<'customer' | 'operator'>().notNull();

/** A user with a verified e-mail address; unverified sign-ups are in `sign_in_tokens`. */
export const users = sqliteTable(
  'sign_in_users',
  {
    id: text().primaryKey(),
    realm: realm(),
    email: text().notNull(),
    /** Argon2id; null: no sign-in until the user has chosen a password. */
    password: text(),
    twoFactorEnabled: flag('two_factor_enabled').notNull(),
    /** The account of a customer; null for operators. */
    accountId: text('account_id').references(() => accounts.id),
    /** Of an operator; null for customers. */
    role: text().$type<Role>(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    uniqueIndex('sign_in_users_email').on(table.realm, table.email),
    uniqueIndex('sign_in_users_account').on(table.accountId),
    check(
      'sign_in_users_realm',
      sql`(${table.realm} = 'customer') = (${table.accountId} is not null)`,
    ),
  ],
);

const userId = () => text('user_id').references(() => users.id, { onDelete: 'cascade' });

export const sessions = sqliteTable(
  'sign_in_sessions',
  {
    /** Identifies the session in lists; gives no access. */
    id: text().primaryKey(),
    userId: userId().notNull(),
    /** Keyed digest of the cookie. */
    digest: text().notNull(),
    createdAt: instant('created_at').notNull(),
    /** Precise to a minute. */
    lastSeenAt: instant('last_seen_at').notNull(),
    /** When the password was last entered. */
    provenAt: instant('proven_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
    address: text().notNull(),
    userAgent: text('user_agent').notNull(),
  },
  (table) => [
    uniqueIndex('sign_in_sessions_digest').on(table.digest),
    index('sign_in_sessions_user').on(table.userId),
    index('sign_in_sessions_expiry').on(table.expiresAt),
  ],
);

/** Sign-ins with a correct password that wait for their second factor. */
export const challenges = sqliteTable(
  'sign_in_challenges',
  {
    /** Keyed digest of the cookie. */
    digest: text().primaryKey(),
    userId: userId().notNull(),
    attempts: count().notNull(),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [
    index('sign_in_challenges_user').on(table.userId),
    index('sign_in_challenges_expiry').on(table.expiresAt),
  ],
);

/** Active for users with `two_factor_enabled`; otherwise it waits for its first correct code. */
export const secondFactors = sqliteTable('sign_in_second_factors', {
  userId: userId().primaryKey(),
  /** Sealed with the session secret. */
  secret: bytes().notNull(),
  /** The time step of the last accepted code; codes up to it are used up. */
  lastStep: count('last_step').notNull(),
  /** Keyed digests of the unused recovery codes, as a JSON array. */
  recoveryCodes: text('recovery_codes').notNull(),
});

/**
 * sign-up    an address that is not verified yet; holds the password of that sign-up
 * reset      a forgotten password
 * operator   an operator's first password
 */
export type TokenPurpose = 'sign-up' | 'reset' | 'operator';

/** Mailed or printed once, accepted once, and stored as its SHA-256. */
export const signInTokens = sqliteTable(
  'sign_in_tokens',
  {
    digest: text().primaryKey(),
    realm: realm(),
    purpose: text().$type<TokenPurpose>().notNull(),
    email: text().notNull(),
    /** Argon2id; only for a sign-up. */
    password: text(),
    invite: text(),
    /** The role of an invited operator. */
    role: text().$type<Role>(),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [
    index('sign_in_tokens_email').on(table.realm, table.email, table.purpose),
    index('sign_in_tokens_expiry').on(table.expiresAt),
  ],
);

/** Recent failures, by the digest of an address, a network or a mail recipient. */
export const attempts = sqliteTable(
  'sign_in_attempts',
  {
    name: text().primaryKey(),
    failures: count().notNull(),
    /** When it may be tried again. */
    nextAt: instant('next_at').notNull(),
    /** When the row expires. */
    endsAt: instant('ends_at').notNull(),
  },
  (table) => [index('sign_in_attempts_end').on(table.endsAt)],
);

export const invites = sqliteTable(
  'invites',
  {
    id: text().primaryKey(),
    digest: text().notNull(),
    /** The only address that may use it; null: any. */
    email: text(),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
    revokedAt: instant('revoked_at'),
    usedAt: instant('used_at'),
    usedBy: text('used_by'),
  },
  (table) => [uniqueIndex('invites_digest').on(table.digest)],
);

/** Accounts whose owner has requested deletion and may still cancel it. */
export const accountDeletions = sqliteTable(
  'account_deletions',
  {
    accountId: text('account_id')
      .primaryKey()
      .references(() => accounts.id),
    askedAt: instant('asked_at').notNull(),
    dueAt: instant('due_at').notNull(),
  },
  (table) => [index('account_deletions_due').on(table.dueAt)],
);
