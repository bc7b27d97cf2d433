// Reads the audit events since the last call. A running server polls it every quarter of a second
// to detect what operators changed, from any process.

import { gt, max, sql } from 'drizzle-orm';
import type { Database } from '../store/contract.ts';
import { databaseNow, readDatabaseTime } from '../store/database-time.ts';
import { auditEvents } from '../store/tables.ts';

export type AuditTailEvent = {
  readonly action: string;
  readonly subject: string;
  /** Null where the change concerns no account, or all of them. */
  readonly accountId: string | null;
};

type AuditReading = {
  /** The database time, Unix milliseconds, up to which all committed events were read. */
  readonly at: number;
  readonly events: readonly AuditTailEvent[];
};

export type AuditTail = ReturnType<typeof createAuditTail>;

/**
 * Starts at the end of the trail at the first call. In both databases, events become visible in the
 * order of their numbers, so numbers above the last one are new.
 */
export function createAuditTail(database: Database) {
  const { db, dialect, foreignCommits } = database;
  let commits: number | undefined;
  let lastId: number | undefined;

  /** If it rejects, the next call returns these events too. */
  async function read(): Promise<AuditReading> {
    // SQLite takes the time after the snapshot of a statement, so it is read before.
    const before = foreignCommits === undefined ? undefined : await readDatabaseTime(database);
    const commitsNow = foreignCommits?.();
    if (before !== undefined && commitsNow === commits) return { at: before, events: [] };
    const [mark] = await db
      .select({
        last: max(auditEvents.id),
        now: sql<number>`${databaseNow(dialect)}`.mapWith(Number),
      })
      .from(auditEvents);
    const last = mark?.last ?? 0;
    const events = lastId === undefined || last === lastId ? [] : await readFrom(lastId);
    lastId = Math.max(last, ...events.map(({ id }) => id));
    commits = commitsNow;
    return { at: before ?? mark?.now ?? 0, events };
  }

  function readFrom(afterId: number) {
    const { id, action, subject, accountId } = auditEvents;
    const columns = { id, action, subject, accountId };
    return db.select(columns).from(auditEvents).where(gt(id, afterId)).orderBy(id);
  }

  return { read };
}
