// The database access of a batch: reads its rows first and writes its changes at the end. One
// implementation per database, because SQLite answers each statement at once and PostgreSQL takes
// all writes in one round trip.

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
   * Loads the accounts and holds of a batch into memory, locked where other nodes write too, and
   * returns what else its commands need.
   */
  readonly load: (
    batch: readonly LedgerRequest[],
    memory: Memory,
    names: Names,
  ) => Promise<BatchFacts>;
  /**
   * Throws where a row is not as it was read; the batch is then rolled back. Calls `onSent` as soon
   * as everything is written or sent.
   */
  readonly write: (changes: Changes, onSent: () => void) => Promise<void>;
};

/**
 * Inside the transaction of their batch. Sent together, because other transactions wait for its
 * locks.
 */
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
