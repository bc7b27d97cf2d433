// The tables of sign-in, for customers and for operators: who may sign in, how, and who is signed in.
// Reading them opens nothing: passwords, cookies, recovery codes and mailed tokens are digests, and
// the secret of a second factor is sealed. Digests of cookies and recovery codes are keyed with the
// session secret, so that writing to them opens nothing either, and another secret ends them all.

import { sql } from 'drizzle-orm';
import { check, index, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { bytes, count, flag, instant } from './columns.ts';
import { accounts } from './tables.ts';

/** Customers and operators sign in to different applications and never meet in a query. */
const realm = () => text().$type<'customer' | 'operator'>().notNull();

/** A person with a verified e-mail address; one who has not verified it is in `sign_in_tokens`. */
export const users = sqliteTable(
  'sign_in_users',
  {
    id: text().primaryKey(),
    realm: realm(),
    email: text().notNull(),
    /** In argon2id; null: nothing opens until the user has chosen one. */
    password: text(),
    twoFactorEnabled: flag('two_factor_enabled').notNull(),
    /** The account that a customer pays with; null for operators. */
    accountId: text('account_id').references(() => accounts.id),
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
    /** Names the session in lists; opens nothing. */
    id: text().primaryKey(),
    userId: userId().notNull(),
    /** Keyed digest of the cookie. */
    digest: text().notNull(),
    createdAt: instant('created_at').notNull(),
    /** Exact to a minute. */
    lastSeenAt: instant('last_seen_at').notNull(),
    /** When the password was proven last. */
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

/** Sign-ins whose password was right and that wait for their second factor. */
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

/** Of users with `two_factor_enabled`; of others it waits for its first right code. */
export const secondFactors = sqliteTable('sign_in_second_factors', {
  userId: userId().primaryKey(),
  /** Sealed with the session secret. */
  secret: bytes().notNull(),
  /** The time step of the last code that was accepted: codes up to it are used up. */
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

/** What is mailed or printed once, taken once, and kept as its SHA-256. */
export const signInTokens = sqliteTable(
  'sign_in_tokens',
  {
    digest: text().primaryKey(),
    realm: realm(),
    purpose: text().$type<TokenPurpose>().notNull(),
    email: text().notNull(),
    /** Argon2id; of a sign-up alone. */
    password: text(),
    invite: text(),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [
    index('sign_in_tokens_email').on(table.realm, table.email, table.purpose),
    index('sign_in_tokens_expiry').on(table.expiresAt),
  ],
);

/** Failures of late, by the digest of what failed: an address, a network, a mailed address. */
export const attempts = sqliteTable(
  'sign_in_attempts',
  {
    name: text().primaryKey(),
    failures: count().notNull(),
    /** From when on it may be tried again. */
    nextAt: instant('next_at').notNull(),
    /** From when on all of this is forgotten. */
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

/** Accounts whose owner has asked for their deletion and may still take that back. */
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
