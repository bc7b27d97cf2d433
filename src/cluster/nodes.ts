// The table of nodes: who serves this database, who was there lately, and who is dead. Statements
// alone; when they run is `member.ts`, and what follows from a death is `recovery.ts`.

import { and, eq, isNotNull, isNull, type SQL, sql } from 'drizzle-orm';
import { nodes } from '../store/cluster-tables.ts';
import type { Database } from '../store/contract.ts';
import { databaseNow } from '../store/database-time.ts';

/** Without a heartbeat for so long, a node is dead. */
export const EVICT_MS = 10_000;

/** For how long people are shown the dead. */
const REMEMBERED_MS = 86_400_000;

type Row = typeof nodes.$inferSelect;

/** What stays as it is while a node runs. */
export type NodeIdentity = Pick<Row, 'node' | 'host' | 'pid' | 'version'>;

/** What a node says of itself with every heartbeat. */
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

/** A node as the database knows it; instants by the database's clock. */
export type NodeRow = Omit<Row, 'addresses'> & {
  readonly addresses: readonly string[];
  /** How long ago its last heartbeat was. */
  readonly silentMs: number;
};

export type Nodes = ReturnType<typeof createNodes>;

/** `now` is the database's clock, as an expression; tests have one that they set. */
export function createNodes(database: Database, now: SQL<number> = databaseNow(database.dialect)) {
  const { db } = database;

  /** Adds a start. Answers the database's time. */
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

  /** Says that a node lives. Answers the database's time, or nothing where it is dead already. */
  async function beat(boot: string, report: NodeReport): Promise<number | undefined> {
    const [row] = await db
      .update(nodes)
      .set({ ...packed(report), heartbeatAt: sql`${now}` })
      .where(isAlive(boot))
      .returning({ heartbeatAt: nodes.heartbeatAt });
    return row?.heartbeatAt;
  }

  /** Says what has taken effect on a node, as soon as it has. */
  async function seen(boot: string, seenAt: number): Promise<void> {
    await db.update(nodes).set({ seenAt }).where(isAlive(boot));
  }

  /** Everybody who is there or was lately, the oldest start first. */
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
   * Evicts a node whose last heartbeat is still the one that was seen. From then on it can
   * only come back as another incarnation, so its holds may be ended. Answers whether this call evicted it.
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

  /** A node has ended and left nothing. */
  async function remove(boot: string): Promise<void> {
    await db.delete(nodes).where(eq(nodes.boot, boot));
  }

  /** Forgets the long dead. */
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

  /** For whoever has the database to itself: nobody else can be alive. */
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
