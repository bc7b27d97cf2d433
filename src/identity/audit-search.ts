// The audit trail as an operator reads it: of everybody, newest first, a page at a time, by who did
// it, what was done and to whom. Each filter alone is found by an index. Nothing here writes.

import { and, desc, eq, lt } from 'drizzle-orm';
import type { Database } from '../store/contract.ts';
import { auditEvents } from '../store/tables.ts';

export type StoredAuditEvent = typeof auditEvents.$inferSelect;

export type AuditFilter = {
  readonly accountId?: string | undefined;
  /** As it is written in the trail; an e-mail address alone is the operator of that address. */
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  /** The id of what was changed. */
  readonly subject?: string | undefined;
};

/** At most `limit` events; those before the event `before` where it is given. */
export async function searchAuditEvents(
  { db }: Database,
  { accountId, actor, action, subject }: AuditFilter,
  { limit, before }: { limit: number; before: number | undefined },
): Promise<readonly StoredAuditEvent[]> {
  return db
    .select()
    .from(auditEvents)
    .where(
      and(
        before === undefined ? undefined : lt(auditEvents.id, before),
        accountId === undefined ? undefined : eq(auditEvents.accountId, accountId),
        actor === undefined ? undefined : eq(auditEvents.actor, actorName(actor)),
        action === undefined ? undefined : eq(auditEvents.action, action),
        subject === undefined ? undefined : eq(auditEvents.subject, subject),
      ),
    )
    .orderBy(desc(auditEvents.id))
    .limit(limit)
    .all();
}

function actorName(text: string): string {
  const isAddress = text.includes('@') && !text.includes(':');
  return isAddress ? `operator:${text.trim().toLowerCase()}` : text.trim();
}
