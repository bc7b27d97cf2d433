// Lists refused requests, newest first, and counts them over time. Read-only.

import { and, between, count, desc, eq, gte, isNull, lt, type SQL, sql } from 'drizzle-orm';
import type { ErrorCode } from '../core/error.ts';
import { requestIdRange } from '../core/id.ts';
import type { Database } from '../store/contract.ts';
import { isBefore } from '../store/keyset.ts';
import { refusedRequests } from '../store/refused-tables.ts';

export type RefusedRequest = typeof refusedRequests.$inferSelect;

export type RefusalFilter = {
  /** Absent: of all accounts, and of callers without one. */
  readonly accountId?: string | undefined;
  readonly keyId?: string | undefined;
  readonly model?: string | undefined;
  readonly code?: ErrorCode | undefined;
  readonly statuses?: readonly [first: number, last: number] | undefined;
  readonly fromMs?: number | undefined;
  readonly untilMs?: number | undefined;
};

/** A place in the list, which continues with older rows. */
export type RefusalPlace = { readonly at: number; readonly id: string };

/** Refused requests of one code that began in one span of time. */
export type RefusalCount = {
  readonly bucket: number;
  readonly code: ErrorCode;
  readonly requests: number;
};

export type RefusalList = ReturnType<typeof createRefusalList>;

export function createRefusalList({ db }: Pick<Database, 'db'>) {
  const { id, at } = refusedRequests;
  return {
    list: (filter: RefusalFilter, limit: number, after?: RefusalPlace): Promise<RefusedRequest[]> =>
      db
        .select()
        .from(refusedRequests)
        .where(and(...conditions(filter), after === undefined ? undefined : olderThan(after)))
        .orderBy(desc(at), desc(id))
        .limit(limit)
        .all(),

    /** The first of equal ones has their id. `accountId` absent: of any account. */
    find: (name: string, accountId?: string): Promise<RefusedRequest | undefined> =>
      db
        .select()
        .from(refusedRequests)
        .where(and(eq(id, name), ...conditions({ accountId })))
        .get(),

    /** The newest with this id prefix; `accountId` absent: of any account. */
    search: (
      accountId: string | undefined,
      prefix: string,
      limit: number,
    ): Promise<RefusedRequest[]> => {
      const [first, last] = requestIdRange(prefix);
      return db
        .select()
        .from(refusedRequests)
        .where(and(between(sql`${id}`, first, last), ...conditions({ accountId })))
        .orderBy(desc(id))
        .limit(limit)
        .all();
    },

    /** The number of rows, at most `most`. */
    async rows(filter: RefusalFilter, most: number): Promise<number> {
      const found = db
        .select({ one: sql`1`.as('one') })
        .from(refusedRequests)
        .where(and(...conditions(filter)))
        .limit(most)
        .as('found');
      return (await db.select({ rows: count() }).from(found).get())?.rows ?? 0;
    },

    /** `bucketMs` divides the time since 1970; a bucket is named by its beginning. */
    counts(filter: RefusalFilter, bucketMs: number): Promise<RefusalCount[]> {
      const size = sql.raw(String(bucketMs));
      const bucket = sql`${at} - ${at} % ${size}`.mapWith(Number);
      return db
        .select({
          bucket,
          code: refusedRequests.code,
          requests: sql`sum(${refusedRequests.count})`.mapWith(Number),
        })
        .from(refusedRequests)
        .where(and(...conditions(filter)))
        .groupBy(bucket, refusedRequests.code)
        .orderBy(bucket, refusedRequests.code)
        .all();
    },
  };
}

/** Only callers without an account. */
export const NO_ACCOUNT = '';

/** Whose refusals; undefined for all. */
export function ownedBy(accountId: string | undefined): SQL | undefined {
  if (accountId === NO_ACCOUNT) return isNull(refusedRequests.accountId);
  return accountId === undefined ? undefined : eq(refusedRequests.accountId, accountId);
}

function conditions(filter: RefusalFilter): (SQL | undefined)[] {
  const { accountId, keyId, model, code, statuses, fromMs, untilMs } = filter;
  const { at, status } = refusedRequests;
  return [
    ownedBy(accountId),
    keyId === undefined ? undefined : eq(refusedRequests.keyId, keyId),
    model === undefined ? undefined : eq(refusedRequests.model, model),
    code === undefined ? undefined : eq(refusedRequests.code, code),
    statuses === undefined ? undefined : between(status, ...statuses),
    fromMs === undefined ? undefined : gte(at, fromMs),
    untilMs === undefined ? undefined : lt(at, untilMs),
  ];
}

const olderThan = ({ at, id }: RefusalPlace): SQL =>
  isBefore([refusedRequests.at, refusedRequests.id], [at, id]);
