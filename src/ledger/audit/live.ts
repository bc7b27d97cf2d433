// Compares the books with the running requests of the server: each claim on the limits belongs to a
// running request, and each running request has a hold of its own account.

import { sql } from 'drizzle-orm';
import { requestIdBytes } from '../../core/id.ts';
import type { Database } from '../../store/contract.ts';
import type { AuditScope, Difference } from './difference.ts';
import { one } from './pages.ts';

export async function* liveDifferences(
  database: Database,
  { accountId: only, live }: AuditScope,
): AsyncGenerator<Difference> {
  if (live === undefined) return;
  const requests = new Set(live.requests);
  for (const { requestId, accountId, startedAt } of live.claims) {
    if (only !== undefined && accountId !== only) continue;
    if (!requests.has(requestId)) {
      const detail = 'it has a claim on the limits, and it is no longer running';
      yield { kind: 'lease', accountId, subject: requestId, detail };
    } else if (startedAt < live.createdBefore) {
      yield* unheldDifferences(database, requestId, accountId);
    }
  }
}

async function* unheldDifferences(
  database: Database,
  requestId: string,
  accountId: string,
): AsyncGenerator<Difference> {
  const id = requestIdBytes(requestId);
  const query = sql`select account_id as "accountId" from holds where request_id = ${id}
    union all select account_id from usage_records where request_id = ${id}`;
  const hold = await one<{ accountId: string }>(database, query);
  if (hold?.accountId === accountId) return;
  const detail =
    hold === undefined
      ? 'it is running, and nothing is held for it'
      : 'it is running, and its hold belongs to another account';
  yield { kind: 'unheld', accountId, subject: requestId, detail };
}
