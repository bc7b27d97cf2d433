// The audit trail of one account, newest first.

import { type StoredAuditEvent, searchAuditEvents } from '../../src/identity/audit-search.ts';
import type { Database } from '../../src/store/contract.ts';

export function accountEvents(
  database: Database,
  accountId: string,
  limit: number,
): Promise<readonly StoredAuditEvent[]> {
  return searchAuditEvents(database, { accountId }, { limit, before: undefined });
}
