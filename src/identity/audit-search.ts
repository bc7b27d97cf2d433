// Searches the audit trail, newest first, in pages, by account, actor, action and subject. Each
// filter alone uses an index. Read-only.

import { and, desc, eq, lt } from 'drizzle-orm';
import type { Database } from '../store/contract.ts';
import { auditEvents } from '../store/tables.ts';

export type StoredAuditEvent = typeof auditEvents.$inferSelect;

export type AuditFilter = {
  readonly accountId?: string | undefined;
  /** As the trail has it; an e-mail address alone means the operator with that address. */
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  /** The id of the changed object. */
  readonly subject?: string | undefined;
};

/** At most `limit` events; only those before the event `before` where it is given. */
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
