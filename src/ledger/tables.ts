// How a batch reaches the database and comes back from it: what it is about is read first, and what it
// has changed is written at the end. One implementation for each database: SQLite answers a statement
// at once, and PostgreSQL takes all that is written in one round trip.

import type { LedgerRequest } from './contract.ts';
import type { BatchFacts, Changes, Memory } from './memory.ts';
import type { Names } from './names.ts';

/** Both are called inside the transaction of the batch. */
export type Tables = {
  /**
   * Puts the accounts and holds of a batch into memory, locked where others write too, and answers
   * what else its commands ask.
   */
  readonly load: (
    batch: readonly LedgerRequest[],
    memory: Memory,
    names: Names,
  ) => Promise<BatchFacts>;
  /**
   * Throws, and the batch is undone, where a row is not as it was read. `onSent` is called as soon as
   * all of it is written or on its way.
   */
  readonly write: (changes: Changes, onSent: () => void) => Promise<void>;
};
