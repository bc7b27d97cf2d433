// What has come into the audit trail since it was last read: how a running server finds out what
// operators have changed, whichever process changed it. Read by the server every quarter of a second.

import { count, gt, max, sql } from 'drizzle-orm';
import type { Database } from '../store/contract.ts';
import { databaseNow, readDatabaseTime } from '../store/database-time.ts';
import { auditEvents } from '../store/tables.ts';

export type AuditNews = { readonly id: number; readonly action: string; readonly subject: string };

export type AuditReading = {
  /** By the database's clock, Unix milliseconds: all that was committed before has been read. */
  readonly at: number;
  readonly news: readonly AuditNews[];
};

export type AuditTail = {
  /** Where it rejects, the next reading has what this one would have had. */
  readonly read: () => Promise<AuditReading>;
};

/**
 * PostgreSQL gives out ids before it commits, so an event may come into the trail behind others that
 * were written after it: among the last ones, by as many as a server writes while one transaction
 * is open. SQLite has one writer.
 */
const LATE = { sqlite: 0, postgres: 1_000 };

/** Begins at the end of the trail, as it is when it is first read. */
export function createAuditTail(database: Database): AuditTail {
  const { db, dialect, foreignCommits } = database;
  let hasBegun = false;
  let commits: number | undefined;
  /** Events up to this id are not looked at any more, and of those behind it, these are known. */
  let floor: number | undefined;
  let known: ReadonlySet<number> = new Set();
  let lastId = 0;

  async function read(): Promise<AuditReading> {
    const beganAt = foreignCommits === undefined ? 0 : await readDatabaseTime(database);
    const commitsNow = foreignCommits?.();
    if (commitsNow !== undefined && commitsNow === commits) return { at: beganAt, news: [] };
    floor ??= await firstFloor();
    const [mark] = await db
      .select({
        last: max(auditEvents.id),
        count: count(),
        // A statement of PostgreSQL's sees all that was committed before it began.
        now: sql<number>`${databaseNow(dialect)}`.mapWith(Number),
      })
      .from(auditEvents)
      .where(gt(auditEvents.id, floor));
    const isSame = (mark?.last ?? lastId) === lastId && mark?.count === known.size;
    const news = isSame ? [] : await readOn(floor);
    commits = commitsNow;
    const at = foreignCommits === undefined ? (mark?.now ?? 0) : beganAt;
    const isFirst = !hasBegun;
    hasBegun = true;
    return { at, news: isFirst ? [] : news };
  }

  async function firstFloor(): Promise<number> {
    const [row] = await db.select({ last: max(auditEvents.id) }).from(auditEvents);
    return Math.max(0, (row?.last ?? 0) - LATE[dialect]);
  }

  async function readOn(from: number): Promise<readonly AuditNews[]> {
    const { id, action, subject } = auditEvents;
    const rows = await db
      .select({ id, action, subject })
      .from(auditEvents)
      .where(gt(id, from))
      .orderBy(id);
    const news = rows.filter((row) => !known.has(row.id));
    lastId = Math.max(lastId, rows.at(-1)?.id ?? 0);
    const next = Math.max(from, lastId - LATE[dialect]);
    known = new Set(rows.flatMap((row) => (row.id > next ? row.id : [])));
    floor = next;
    return news;
  }

  return { read };
}
