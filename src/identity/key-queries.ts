// Reads API keys: one by its id or its text, those of an account, and the number of active and of
// new ones. Part of `createKeys`; read-only.

import { and, asc, desc, eq, gt, isNull, lt, or, type SQL, sql } from 'drizzle-orm';
import { isWellFormedKey } from '../core/id.ts';
import { apiKeys } from '../store/tables.ts';
import type { Basics } from './audit.ts';
import { IdentityError } from './error.ts';
import { digestKey } from './key-digest.ts';
import type { ApiKey } from './key-record.ts';

/** How many keys an account has created within the last hour, and when it may create another. */
type KeyCreations = {
  readonly made: number;
  readonly limit: number;
  /** Unix milliseconds; `undefined` where it may now. */
  readonly nextAt: number | undefined;
};

/** A rotation creates a key too. */
export const KEY_CREATIONS_PER_HOUR = 20;
const HOUR_MS = 3_600_000;

/** More than the built-in plans have active ones. */
const LISTED = 500;

/** The keys that are active at an instant. */
export function isActiveKey(nowMs: number): SQL | undefined {
  return and(
    isNull(apiKeys.revokedAt),
    or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, nowMs)),
  );
}

/** A key of another account looks like a missing one. */
export function notOwn(): IdentityError {
  return new IdentityError('key_not_found', 'There is no such key.');
}

export function createKeyQueries({ database, clock }: Pick<Basics, 'database' | 'clock'>) {
  const { db } = database;

  /** Keys of an account, newest first. */
  function newestFirst(where: SQL | undefined) {
    return db.select().from(apiKeys).where(where).orderBy(desc(apiKeys.createdAt), sql`rowid desc`);
  }

  return {
    /** Finds a key by its id, or by the whole key. Throws `key_not_found`. */
    async find(idOrKey: string): Promise<ApiKey> {
      const where = isWellFormedKey(idOrKey)
        ? eq(apiKeys.digest, digestKey(idOrKey))
        : eq(apiKeys.id, idOrKey);
      const row = await db.select().from(apiKeys).where(where).get();
      if (row !== undefined) return row;
      throw new IdentityError(
        'key_not_found',
        'There is no such key. Give its id (key_…) or the whole key; the masked form is not enough.',
      );
    },

    /** Finds a key of this account by its id. Throws `key_not_found`. */
    async findOwn(accountId: string, id: string): Promise<ApiKey> {
      const own = and(eq(apiKeys.id, id), eq(apiKeys.accountId, accountId));
      const row = await db.select().from(apiKeys).where(own).get();
      if (row !== undefined) return row;
      throw notOwn();
    },

    async countActive(accountId: string): Promise<number> {
      return Number(
        await db.$count(apiKeys, and(eq(apiKeys.accountId, accountId), isActiveKey(clock()))),
      );
    },

    async creations(accountId: string): Promise<KeyCreations> {
      const recent = gt(apiKeys.createdAt, clock() - HOUR_MS);
      const made = await newestFirst(and(eq(apiKeys.accountId, accountId), recent)).all();
      // The key that must become an hour old before another can be created.
      const last = made[KEY_CREATIONS_PER_HOUR - 1];
      const nextAt = last === undefined ? undefined : last.createdAt + HOUR_MS;
      return { made: made.length, limit: KEY_CREATIONS_PER_HOUR, nextAt };
    },

    /** The active keys of an account that expire before an instant, the next one first. */
    endingBefore: async (accountId: string, untilMs: number): Promise<ApiKey[]> =>
      db
        .select()
        .from(apiKeys)
        .where(
          and(
            eq(apiKeys.accountId, accountId),
            isNull(apiKeys.revokedAt),
            gt(apiKeys.expiresAt, clock()),
            lt(apiKeys.expiresAt, untilMs),
          ),
        )
        .orderBy(asc(apiKeys.expiresAt))
        .all(),

    /** The active keys of an account that the runaway guard has paused. */
    runaway: async (accountId: string): Promise<ApiKey[]> =>
      newestFirst(
        and(
          eq(apiKeys.accountId, accountId),
          eq(apiKeys.pausedReason, 'runaway'),
          isActiveKey(clock()),
        ),
      ).all(),

    /**
     * The active keys of an account and its newest others, newest first; `isCut`: it has more.
     * Rotations leave any number of keys behind.
     */
    async listed(accountId: string, most = LISTED) {
      const own = eq(apiKeys.accountId, accountId);
      const newest = await newestFirst(own)
        .limit(most + 1)
        .all();
      if (newest.length <= most) return { rows: newest, isCut: false };
      // An index has this order, so that no list of all keys is sorted.
      const active = await newestFirst(and(own, isActiveKey(clock())))
        .limit(most)
        .all();
      const ids = new Set(active.map(({ id }) => id));
      const others = newest.filter(({ id }) => !ids.has(id)).slice(0, most - active.length);
      const rows = [...active, ...others].toSorted((a, b) => b.createdAt - a.createdAt);
      return { rows, isCut: true };
    },

    /** All keys of an account in every state, newest first. */
    list: async (accountId: string): Promise<ApiKey[]> =>
      newestFirst(eq(apiKeys.accountId, accountId)).all(),
  };
}
