// The rows of credits and codes: rare, so they are written as they come, the same on each database.

import { eq } from 'drizzle-orm';
import type { Database } from '../store/contract.ts';
import { movements, redemptionCodes } from '../store/money-tables.ts';
import { auditEvents } from '../store/tables.ts';
import type { Changes } from './memory.ts';

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
