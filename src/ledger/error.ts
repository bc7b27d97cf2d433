// Why the ledger did not do what it was asked.

/** The disk or the database failed: nothing of the command can be relied on. Answered as 503. */
export class LedgerUnavailable extends Error {
  override readonly name = 'LedgerUnavailable';
}

/** The command itself cannot be carried out; it changed nothing. The message is for operators. */
export class LedgerRefusal extends Error {
  override readonly name = 'LedgerRefusal';
}
