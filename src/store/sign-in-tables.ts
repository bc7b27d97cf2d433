// The tables of sign-in, for customers and for operators: who may sign in, how, and who is signed in.
// Nothing in them opens anything when it is read: passwords, session ids and mailed tokens are
// digests, and what must be read again (the secret of a second factor) is sealed.

import { sql } from 'drizzle-orm';
import { check, index, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { count, flag, instant } from './columns.ts';
import { accounts } from './tables.ts';

/** Customers and operators sign in to different applications and never meet in a query. */
const realm = () => text().$type<'customer' | 'operator'>().notNull();

/** Somebody with a verified e-mail address. Whoever has not verified it is in `sign_in_tokens`. */
export const users = sqliteTable(
  'sign_in_users',
  {
    id: text().primaryKey(),
    realm: realm(),
    email: text().notNull(),
    emailVerified: flag('email_verified').notNull(),
    twoFactorEnabled: flag('two_factor_enabled').notNull(),
    /** The account that a customer pays with; null for operators. */
    accountId: text('account_id').references(() => accounts.id),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
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

const userId = () =>
  text('user_id')
    .notNull()
    .references(() => users.id, { onDelete: 'cascade' });

/** How a user proves who they are. Now each has one, with a password in argon2id. */
export const credentials = sqliteTable(
  'sign_in_credentials',
  {
    id: text().primaryKey(),
    realm: realm(),
    userId: userId(),
    /** The user as the provider names it; the user's own id where that is us. */
    subject: text().notNull(),
    provider: text().notNull(),
    password: text(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [uniqueIndex('sign_in_credentials_user').on(table.userId, table.provider)],
);

export const sessions = sqliteTable(
  'sign_in_sessions',
  {
    /** Names the session in lists; opens nothing. */
    id: text().primaryKey(),
    realm: realm(),
    userId: userId(),
    /** SHA-256 of what the cookie holds. */
    digest: text().notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
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

/** Sign-ins that wait for their second factor; what they are found by is a digest. */
export const challenges = sqliteTable(
  'sign_in_challenges',
  {
    id: text().primaryKey(),
    realm: realm(),
    identifier: text().notNull(),
    value: text().notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [
    index('sign_in_challenges_identifier').on(table.identifier),
    index('sign_in_challenges_expiry').on(table.expiresAt),
  ],
);

export const secondFactors = sqliteTable(
  'sign_in_second_factors',
  {
    id: text().primaryKey(),
    realm: realm(),
    userId: userId(),
    /** Sealed with the session secret, as the recovery codes are. */
    secret: text().notNull(),
    recoveryCodes: text('recovery_codes').notNull(),
    /** Whether one code of it was right; until then it is asked for nowhere. */
    verified: flag().notNull(),
    failures: count().notNull(),
    lockedUntil: instant('locked_until'),
  },
  (table) => [uniqueIndex('sign_in_second_factors_user').on(table.userId)],
);

/**
 * sign-up    an address that somebody wants to sign up with; holds the password they chose
 * reset      a forgotten password
 * operator   an operator's first password
 * used-code  a code of a second factor that must not be taken again
 */
export type TokenPurpose = 'sign-up' | 'reset' | 'operator' | 'used-code';

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
