// The statements on the table of nodes: live, recent and evicted ones. `member.ts` decides when
// they run, `recovery.ts` what follows an eviction.

import { and, eq, isNotNull, isNull, type SQL, sql } from 'drizzle-orm';
import { nodes } from '../store/cluster-tables.ts';
import type { Database } from '../store/contract.ts';
import { databaseNow } from '../store/database-time.ts';

/** A node without a heartbeat for so long is evicted. */
export const EVICT_MS = 10_000;

/** How long evicted nodes remain listed. */
const REMEMBERED_MS = 86_400_000;

type Row = typeof nodes.$inferSelect;

/** What is constant while a node runs. */
export type NodeIdentity = Pick<Row, 'node' | 'host' | 'pid' | 'version'>;

/** What a node reports with every heartbeat. */
export type NodeReport = Pick<
  Row,
  | 'state'
  | 'redis'
  | 'limits'
  | 'catalogVersion'
  | 'catalogDigest'
  | 'inFlight'
  | 'clockOffsetMs'
  | 'seenAt'
> & { readonly addresses: readonly string[] };

/** A node as the database has it; times by the database's clock. */
export type NodeRow = Omit<Row, 'addresses'> & {
  readonly addresses: readonly string[];
  /** The age of its last heartbeat. */
  readonly silentMs: number;
};

export type Nodes = ReturnType<typeof createNodes>;

/** `now` is the database's clock, as an expression; tests replace it. */
export function createNodes(database: Database, now: SQL<number> = databaseNow(database.dialect)) {
  const { db } = database;

  /** Adds a start of a process. Resolves with the database's time. */
  async function register(
    boot: string,
    identity: NodeIdentity,
    report: NodeReport,
  ): Promise<number> {
    const [row] = await db
      .insert(nodes)
      .values({
        boot,
        ...identity,
        ...packed(report),
        startedAt: sql`${now}`,
        heartbeatAt: sql`${now}`,
        deadAt: null,
      })
      .returning({ heartbeatAt: nodes.heartbeatAt });
    return row?.heartbeatAt ?? 0;
  }

  /**
   * Records a heartbeat. Resolves with the database's time, or with `undefined` where the node was
   * evicted.
   */
  async function beat(boot: string, report: NodeReport): Promise<number | undefined> {
    const [row] = await db
      .update(nodes)
      .set({ ...packed(report), heartbeatAt: sql`${now}` })
      .where(isAlive(boot))
      .returning({ heartbeatAt: nodes.heartbeatAt });
    return row?.heartbeatAt;
  }

  /** Records up to when changes have taken effect on a node. */
  async function seen(boot: string, seenAt: number): Promise<void> {
    await db.update(nodes).set({ seenAt }).where(isAlive(boot));
  }

  /** All live and recent nodes, the oldest start first. */
  async function list(): Promise<readonly NodeRow[]> {
    const rows = await db
      .select({ row: nodes, now: sql<number>`${now}`.mapWith(Number) })
      .from(nodes)
      .orderBy(nodes.startedAt, nodes.boot);
    return rows.map(({ row, now: at }) => ({
      ...row,
      addresses: JSON.parse(row.addresses) as string[],
      silentMs: at - row.heartbeatAt,
    }));
  }

  /**
   * Evicts a node if its last heartbeat is still the one that was read. It can only rejoin as
   * another incarnation, so its holds may be ended. Resolves with whether this call evicted it.
   */
  async function evict({
    boot,
    heartbeatAt,
  }: Pick<NodeRow, 'boot' | 'heartbeatAt'>): Promise<boolean> {
    const rows = await db
      .update(nodes)
      .set({ deadAt: sql`${now}` })
      .where(and(isAlive(boot), eq(nodes.heartbeatAt, heartbeatAt)))
      .returning({ boot: nodes.boot });
    return rows.length > 0;
  }

  /** Removes a node that has ended and left nothing. */
  async function remove(boot: string): Promise<void> {
    await db.delete(nodes).where(eq(nodes.boot, boot));
  }

  /** Deletes nodes that were evicted long ago. */
  async function sweep(): Promise<void> {
    await db
      .delete(nodes)
      .where(
        and(
          isNotNull(nodes.deadAt),
          sql`${nodes.deadAt} < ${now} - cast(${REMEMBERED_MS} as bigint)`,
        ),
      );
  }

  /** For a process that has locked the database: no other node can be alive. */
  async function removeAll(): Promise<void> {
    await db.delete(nodes);
  }

  return { register, beat, seen, list, evict, remove, sweep, removeAll };
}

function isAlive(boot: string) {
  return and(eq(nodes.boot, boot), isNull(nodes.deadAt));
}

function packed({ addresses, ...report }: NodeReport) {
  return { ...report, addresses: JSON.stringify(addresses) };
}
