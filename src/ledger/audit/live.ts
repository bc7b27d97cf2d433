// The audit against what is under way: a request that is being answered has a hold of its account.

import { sql } from 'drizzle-orm';
import type { Queries } from '../../store/database.ts';
import type { AuditScope, Difference } from '../audit.ts';
import { one } from './pages.ts';

export function* liveDifferences(
  db: Queries,
  { accountId, live }: AuditScope,
): Generator<Difference> {
  for (const [requestId, owner] of live?.accounts ?? []) {
    if (accountId !== undefined && owner !== accountId) continue;
    const query = sql`select account_id as accountId from holds where request_id = ${requestId}`;
    const hold = one<{ accountId: string }>(db, query);
    if (hold?.accountId === owner) continue;
    const detail =
      hold === undefined
        ? 'it is under way, and nothing is held for it'
        : 'it is under way, and its hold belongs to another account';
    yield { kind: 'unheld', accountId: owner, subject: requestId, detail };
  }
}

/** `leases` are the slots in use of each account, seen at the same moment as the live requests. */
export function* leaseDifferences(
  leases: ReadonlyMap<string, number>,
  live: ReadonlyMap<string, string>,
): Generator<Difference> {
  const counts = new Map<string, number>();
  for (const accountId of live.values()) counts.set(accountId, (counts.get(accountId) ?? 0) + 1);
  for (const [accountId, slots] of leases) {
    const requests = counts.get(accountId) ?? 0;
    if (slots <= requests) continue;
    const detail = `${slots} slots are in use by ${requests} requests`;
    yield { kind: 'lease', accountId, subject: accountId, detail };
  }
}
