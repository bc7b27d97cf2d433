// The advisory locks of a Tollgate database, by their two numbers. The one that keeps the audit trail
// in order, (7480, 2), is taken by a trigger of the trail itself.

/** Held over the migrations. */
export const MIGRATING = '7480, 1';

/** Held by every transaction that is not the ledger's, so that they come one after the other. */
export const WRITING = '7480, 4';

/** Shared by the transactions of the ledger: who wants to know which of them are open looks for it. */
export const LEDGER_AT_WORK = '7480, 3';
