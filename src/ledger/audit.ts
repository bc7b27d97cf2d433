// Recomputes derived values and reports every difference. Called by the hourly audit of a server,
// in its own thread, and by `doctor`. It repairs nothing: a wrong balance is a bug to be
// understood. Each read is short, so writers do not wait and the log can be checkpointed.

import type { Database } from '../store/contract.ts';
import { accountDifferences } from './audit/accounts.ts';
import { budgetDifferences } from './audit/budgets.ts';
import type { AuditScope, Difference } from './audit/difference.ts';
import { holdDifferences } from './audit/holds.ts';
import { liveDifferences } from './audit/live.ts';
import { redemptionDifferences } from './audit/redemptions.ts';
import { rowDifferences } from './audit/rows.ts';

export type { AuditState, Difference, LiveRequests } from './audit/difference.ts';

/** Yields differences as they are found; the caller limits how many it keeps. */
export async function* findDifferences(
  database: Database,
  scope: AuditScope = {},
): AsyncGenerator<Difference> {
  yield* accountDifferences(database, scope);
  yield* rowDifferences(database, scope);
  yield* holdDifferences(database, scope);
  yield* redemptionDifferences(database, scope);
  yield* budgetDifferences(database, scope);
  yield* liveDifferences(database, scope);
}

/** All differences within the books; an empty list is a healthy ledger. */
export async function audit(database: Database): Promise<readonly Difference[]> {
  return await Array.fromAsync(findDifferences(database));
}
