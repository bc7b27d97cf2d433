// Leases for what only one node at a time may do. One statement acquires a lease, by the database's
// clock; it expires unless renewed. Its fencing number grows with every change of holder, so that a
// late holder is distinguishable from its successor. Used for leadership (`member.ts`).

import { and, eq, type SQL, sql } from 'drizzle-orm';
import { leases } from '../store/cluster-tables.ts';
import type { Database } from '../store/contract.ts';
import { databaseNow } from '../store/database-time.ts';

export type Lease = {
  /** Greater than that of every earlier holder. */
  readonly fence: number;
  /** By the database's clock, Unix milliseconds. */
  readonly until: number;
};

export type Leases = ReturnType<typeof createLeases>;

/** `now` is the database's clock, as an expression; tests replace it. */
export function createLeases(database: Database, now: SQL<number> = databaseNow(database.dialect)) {
  const { db } = database;

  /**
   * Acquires or renews a lease for `forMs` from now; `undefined` while another node holds it. A
   * node that finds its own expired lease untaken keeps the number: there was no holder in between.
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

  /** Releases it, so that the next holder need not wait for it to expire. */
  async function release(name: string, holder: string): Promise<void> {
    await db
      .update(leases)
      .set({ holder: '', until: 0 })
      .where(and(eq(leases.name, name), eq(leases.holder, holder)));
  }

  /** The present holder. */
  async function holderOf(name: string): Promise<string | undefined> {
    const [row] = await db
      .select({ holder: leases.holder })
      .from(leases)
      .where(and(eq(leases.name, name), sql`${leases.until} > ${now}`));
    return row?.holder;
  }

  /** For a process that has locked the database: no other can hold a lease. */
  async function removeAll(): Promise<void> {
    await db.delete(leases);
  }

  return { take, release, holderOf, removeAll };
}
