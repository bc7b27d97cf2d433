// What has come into the audit trail since it was last read: how a running server finds out what
// operators have changed, whichever process changed it. Read by the server every quarter of a second.

import { gt, max, sql } from 'drizzle-orm';
import type { Database } from '../store/contract.ts';
import { databaseNow, readDatabaseTime } from '../store/database-time.ts';
import { auditEvents } from '../store/tables.ts';

export type AuditTailEvent = { readonly action: string; readonly subject: string };

type AuditReading = {
  /** By the database's clock, Unix milliseconds: all that was committed before has been read. */
  readonly at: number;
  readonly events: readonly AuditTailEvent[];
};

export type AuditTail = {
  /** Where it rejects, the next reading has what this one would have had. */
  readonly read: () => Promise<AuditReading>;
};

/**
 * Begins at the end of the trail, as it is when it is first read. Events become visible in the order
 * of their numbers, in either database, so what is above the last one that was seen is new.
 */
export function createAuditTail(database: Database): AuditTail {
  const { db, dialect, foreignCommits } = database;
  let commits: number | undefined;
  let lastId: number | undefined;

  async function read(): Promise<AuditReading> {
    // SQLite takes the time after it has chosen what a statement sees, so there it is asked before.
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
    const { id, action, subject } = auditEvents;
    return db.select({ id, action, subject }).from(auditEvents).where(gt(id, afterId)).orderBy(id);
  }

  return { read };
}
