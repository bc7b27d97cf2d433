// Lists the API keys of an account: filtered, searched and sorted, page by page. Part of
// `createKeys`; read-only.

import { and, desc, eq, inArray, isNotNull, isNull, lte, or, type SQL, sql } from 'drizzle-orm';
import { pageBy, type SortedPage, type SortPlace } from '../store/keyset.ts';
import { contains, unindexed } from '../store/portable.ts';
import { apiKeys } from '../store/tables.ts';
import type { Basics } from './audit.ts';
import { isActiveKey } from './key-queries.ts';
import type { ApiKey } from './key-record.ts';

/** `kept` are all that are not revoked. `expiring` are active keys that expire within 7 days. */
export type KeyListState = 'all' | 'kept' | 'active' | 'expiring' | 'expired' | 'revoked';

export type KeyFilter = {
  readonly state: KeyListState;
  /** Part of the name or of the masked key, or the whole id; empty: any. */
  readonly text: string;
};

type KeyField = 'created' | 'name' | 'last_used' | 'expires';

/** A key with its place in the order of a list. */
export type PlacedKey = { readonly row: ApiKey; readonly place: SortPlace };

export const EXPIRING_WITHIN_MS = 7 * 86_400_000;

/** Lists that no column sorts have at most the newest keys. */
const MATCHES_MAX = 20_000;

const EVERY_KEY: KeyFilter = { state: 'all', text: '' };

/** Rises with every key that is created. */
const NUMBER = sql<number>`${apiKeys}.rowid`.mapWith(Number);

/** The values to sort by; never null. A key without expiry expires last. */
const SORTED: Readonly<Record<KeyField, SQL>> = {
  created: sql`${apiKeys.createdAt}`,
  name: sql`lower(coalesce(${apiKeys.name}, ''))`,
  last_used: sql`coalesce(${apiKeys.lastUsedAt}, 0)`,
  expires: sql`coalesce(${apiKeys.expiresAt}, ${sql.raw(String(Number.MAX_SAFE_INTEGER))})`,
};

export function createKeyList({ database, clock }: Pick<Basics, 'database' | 'clock'>) {
  const { db } = database;

  return {
    /** One page of the keys of an account in any order. */
    async page(
      accountId: string,
      page: SortedPage<KeyField>,
      filter = EVERY_KEY,
    ): Promise<readonly PlacedKey[]> {
      const { where, orderBy } = pageBy(SORTED, NUMBER, page);
      const value = sql<string | number>`${SORTED[page.order.field]}`;
      const found = await db
        .select({ row: apiKeys, value, tie: NUMBER })
        .from(apiKeys)
        .where(and(matches(accountId, filter, clock()), where))
        .orderBy(...orderBy)
        .limit(page.limit)
        .all();
      return found.map(({ row, ...place }) => ({ row, place }));
    },

    /** The ids and numbers of all matching keys, for an order that no column has. */
    matching: async (
      accountId: string,
      filter: KeyFilter,
    ): Promise<readonly { readonly id: string; readonly number: number }[]> =>
      db
        .select({ id: apiKeys.id, number: NUMBER })
        .from(apiKeys)
        .where(matches(accountId, filter, clock()))
        .orderBy(desc(apiKeys.createdAt), desc(NUMBER))
        .limit(MATCHES_MAX)
        .all(),

    /** Some keys of an account, in the order of their ids here. */
    async several(accountId: string, ids: readonly string[]): Promise<ApiKey[]> {
      // `unindexed`, because SQLite would prefer to read every key of the account.
      const own = and(eq(unindexed(apiKeys.accountId), accountId), inArray(apiKeys.id, [...ids]));
      const rows = ids.length === 0 ? [] : await db.select().from(apiKeys).where(own).all();
      const byId = new Map(rows.map((row) => [row.id, row]));
      return ids.flatMap((id) => byId.get(id) ?? []);
    },

    /** How many keys of an account have each state. */
    async countStates(accountId: string): Promise<Readonly<Record<KeyListState, number>>> {
      const nowMs = clock();
      const count = (state: KeyListState) =>
        sql`coalesce(sum(case when ${isIn(state, nowMs)} then 1 else 0 end), 0)`.mapWith(Number);
      const counts = await db
        .select({
          all: count('all'),
          kept: count('kept'),
          active: count('active'),
          expiring: count('expiring'),
          expired: count('expired'),
          revoked: count('revoked'),
        })
        .from(apiKeys)
        .where(eq(apiKeys.accountId, accountId))
        .get();
      return counts ?? { all: 0, kept: 0, active: 0, expiring: 0, expired: 0, revoked: 0 };
    },
  };
}

function matches(accountId: string, { state, text }: KeyFilter, nowMs: number): SQL | undefined {
  const part = sql`lower(${text})`;
  return and(
    eq(apiKeys.accountId, accountId),
    isIn(state, nowMs),
    text === ''
      ? undefined
      : or(
          contains(sql`lower(coalesce(${apiKeys.name}, ''))`, part),
          contains(sql`lower(${apiKeys.masked})`, part),
          eq(apiKeys.id, text),
        ),
  );
}

function isIn(state: KeyListState, nowMs: number): SQL | undefined {
  switch (state) {
    case 'all':
      return sql`1 = 1`;
    case 'kept':
      return isNull(apiKeys.revokedAt);
    case 'active':
      return isActiveKey(nowMs);
    case 'expiring':
      return and(isActiveKey(nowMs), lte(apiKeys.expiresAt, nowMs + EXPIRING_WITHIN_MS));
    case 'expired':
      return and(isNull(apiKeys.revokedAt), lte(apiKeys.expiresAt, nowMs));
    case 'revoked':
      return isNotNull(apiKeys.revokedAt);
  }
}
