// The advisory locks of a Tollgate database, as pairs of numbers. A trigger of the audit trail
// takes (7480, 2), which keeps the trail in order.

/** Held during migrations. */
export const MIGRATING = '7480, 1';

/** Held by every transaction except the ledger's, so that they run one at a time. */
export const WRITING = '7480, 4';

/** Shared by the ledger's transactions: its holders are the open ones. */
export const LEDGER_AT_WORK = '7480, 3';
