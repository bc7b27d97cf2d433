// How a batch reaches the database and comes back from it: what it is about is read first, and what it
// has changed is written at the end. One implementation for each database: SQLite answers a statement
// at once, and PostgreSQL takes all that is written in one round trip.

import { eq } from 'drizzle-orm';
import type { Database } from '../store/contract.ts';
import { movements, redemptionCodes } from '../store/money-tables.ts';
import { auditEvents } from '../store/tables.ts';
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

/** Inside the transaction of their batch. They travel together: others wait for its locks. */
export async function insertMovements({ db }: Database, changes: Changes): Promise<void> {
  const redeemed = [...changes.redeemed].map(([digest, { accountId, at }]) => {
    const set = { redeemedAt: at, redeemedBy: accountId };
    return db.update(redemptionCodes).set(set).where(eq(redemptionCodes.digest, digest)).run();
  });
  await Promise.all([
    ...redeemed,
    ...[...changes.movements.values()].map((row) => db.insert(movements).values(row).run()),
    ...changes.events.map((event) => db.insert(auditEvents).values(event).run()),
  ]);
}
