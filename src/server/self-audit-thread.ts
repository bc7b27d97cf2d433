// The thread of one audit: reads the books on a read-only connection, stores where the next one
// continues, posts what it found and exits. Started by `self-audit.ts`; an entry point of the build.

import { createRest } from '../async/rest.ts';
import { ALWAYS_FOUND } from '../ledger/audit/difference.ts';
import { nextPass } from '../ledger/audit/pass.ts';
import { type Difference, findDifferences, type LiveRequests } from '../ledger/audit.ts';
import { connectDatabase } from '../store/connect.ts';
import type { Database } from '../store/contract.ts';
import { serveThread } from './serve-thread.ts';

/** Posted to the thread, once. */
export type AuditRequest = {
  readonly url: string;
  readonly live: LiveRequests;
  readonly nowMs: number;
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

/** Of one core; the compiler and the allocator take a third more, so it is 4 % in all. */
const SHARE = 0.03;

serveThread(audit);

async function audit({ url, live, accountIds, nowMs }: AuditRequest): Promise<AuditReport> {
  const database = connectDatabase({ url, sync: 'normal', patient: true, readonly: true });
  const kept = new Map<string | null, Difference[]>();
  const lasting = new Set<string | null>();
  let count = 0;
  try {
    const { pass, end } = await nextPass(database);
    const whole = { live, pass, rest: createRest(SHARE) };
    const scopes = accountIds?.map((accountId) => ({ ...whole, accountId })) ?? [whole];
    for (const scope of scopes) {
      for await (const difference of findDifferences(database, scope)) {
        const { accountId, kind } = difference;
        count += 1;
        const own = kept.get(accountId) ?? [];
        if (own.length < KEPT_MAX) own.push(difference);
        kept.set(accountId, own);
        if (!ALWAYS_FOUND.has(kind)) lasting.add(accountId);
      }
    }
    if (accountIds === undefined) await keep(url, (writable) => end(writable, [...lasting], nowMs));
  } finally {
    await database.close();
  }
  return { ok: true, differences: [...kept.values()].flat(), count };
}

/** Where the disk is full, the next audit reads the same rows again. */
async function keep(url: string, write: (database: Database) => Promise<void>): Promise<void> {
  const database = connectDatabase({ url, sync: 'normal', patient: true });
  await write(database).catch(() => undefined);
  await database.close();
}
