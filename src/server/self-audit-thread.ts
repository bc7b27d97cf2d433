// The thread of one audit: reads the books on a read-only connection, posts what it found and
// exits. Started by `self-audit.ts`; an entry point of the build.

import { type Difference, findDifferences, type LiveRequests } from '../ledger/audit.ts';
import { connectDatabase } from '../store/connect.ts';
import { serveThread } from './serve-thread.ts';

/** Posted to the thread, once. */
export type AuditRequest = {
  readonly url: string;
  readonly live: LiveRequests;
  /** Absent: all accounts. */
  readonly accountIds?: readonly string[];
};

/**
 * Posted back, once; `self-audit.ts` makes the other one of a failure. `differences` are the first
 * ones of each account.
 */
export type AuditReport =
  | { readonly ok: true; readonly differences: readonly Difference[]; readonly count: number }
  | { readonly ok: false; readonly cause: string };

/** Kept differences of one account, or of the operator: enough to report. */
const KEPT_MAX = 20;

serveThread(audit);

async function audit({ url, live, accountIds }: AuditRequest): Promise<AuditReport> {
  const database = connectDatabase({ url, sync: 'normal', patient: true, readonly: true });
  const kept = new Map<string | null, Difference[]>();
  let count = 0;
  try {
    const scopes = accountIds?.map((accountId) => ({ live, accountId })) ?? [{ live }];
    for (const scope of scopes) {
      for await (const difference of findDifferences(database, scope)) {
        count += 1;
        const own = kept.get(difference.accountId) ?? [];
        if (own.length < KEPT_MAX) own.push(difference);
        kept.set(difference.accountId, own);
      }
    }
  } finally {
    await database.close();
  }
  return { ok: true, differences: [...kept.values()].flat(), count };
}
