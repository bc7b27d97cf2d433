// What one node at a time may do: a lease is taken in one statement, by the database's clock, and is
// lost where it is not taken again in time. Its fencing number grows with every change of holder, so
// that who was slow can be told from who came after. Used for leadership (`member.ts`).

import { and, eq, type SQL, sql } from 'drizzle-orm';
import { leases } from '../store/cluster-tables.ts';
import type { Database } from '../store/contract.ts';
import { databaseNow } from '../store/database-time.ts';

export type Lease = {
  /** Greater than that of every holder before. */
  readonly fence: number;
  /** By the database's clock, Unix milliseconds. */
  readonly until: number;
};

export type Leases = ReturnType<typeof createLeases>;

/** `now` is the database's clock, as an expression; tests have one that they set. */
export function createLeases(database: Database, now: SQL<number> = databaseNow(database.dialect)) {
  const { db } = database;

  /**
   * Takes or renews a lease for `forMs` from now; `undefined` while somebody else has it. Whoever
   * lost it and finds it untaken has it again under the same number: nobody was in between.
   */
  async function take(name: string, holder: string, forMs: number): Promise<Lease | undefined> {
    const until = sql`${now} + cast(${forMs} as bigint)`;
    const [row] = await db
      .insert(leases)
      .values({ name, holder, until, fence: 1 })
      .onConflictDoUpdate({
        target: leases.name,
        set: {
          holder,
          until,
          fence: sql`${leases.fence} + case when ${leases.holder} = ${holder} then 0 else 1 end`,
        },
        setWhere: sql`${leases.holder} = ${holder} or ${leases.until} <= ${now}`,
      })
      .returning({ fence: leases.fence, until: leases.until });
    return row;
  }

  /** Gives it back, so that the next holder need not wait for its end. */
  async function release(name: string, holder: string): Promise<void> {
    await db
      .update(leases)
      .set({ holder: '', until: 0 })
      .where(and(eq(leases.name, name), eq(leases.holder, holder)));
  }

  /** Who has it now. */
  async function holderOf(name: string): Promise<string | undefined> {
    const [row] = await db
      .select({ holder: leases.holder })
      .from(leases)
      .where(and(eq(leases.name, name), sql`${leases.until} > ${now}`));
    return row?.holder;
  }

  /** For whoever has the database to itself: nobody else can hold any. */
  async function removeAll(): Promise<void> {
    await db.delete(leases);
  }

  return { take, release, holderOf, removeAll };
}
