// Recomputes what is derived and names every difference. Called by the hourly audit of a server, in
// a thread of its own, and by `doctor`. It changes nothing: a wrong balance is a bug to be
// understood, not repaired. Every look is short, so that no writer waits and the log can shrink.

import type { Database } from '../store/contract.ts';
import { accountDifferences } from './audit/accounts.ts';
import type { AuditScope, Difference } from './audit/difference.ts';
import { holdDifferences } from './audit/holds.ts';
import { liveDifferences } from './audit/live.ts';
import { redemptionDifferences } from './audit/redemptions.ts';
import { rowDifferences } from './audit/rows.ts';

export type { AuditState, Difference, LiveRequests } from './audit/difference.ts';

/** Differences as they are found; whoever reads them decides how many to keep. */
export async function* findDifferences(
  database: Database,
  scope: AuditScope = {},
): AsyncGenerator<Difference> {
  yield* accountDifferences(database, scope);
  yield* rowDifferences(database, scope);
  yield* holdDifferences(database, scope);
  yield* redemptionDifferences(database, scope);
  yield* liveDifferences(database, scope);
}

/** All differences of the books by themselves; an empty list is a healthy ledger. */
export async function audit(database: Database): Promise<readonly Difference[]> {
  return await Array.fromAsync(findDifferences(database));
}
