// The ledger in the caller's process, for the command line and for tests. A server runs the same
// ledger in a thread (`remote.ts`).

import type { Database } from '../store/contract.ts';
import type { Ledger } from './contract.ts';
import { createQueue } from './queue.ts';
import type { LedgerTrouble } from './waiting.ts';
import { createWriter } from './writer.ts';

type LedgerOptions = {
  /** Open and migrated. */
  readonly database: Database;
  readonly onTrouble?: (trouble: LedgerTrouble) => void;
};

export function createLedger({ database, onTrouble }: LedgerOptions): Ledger {
  const write = createWriter(database);
  const queue = createQueue({
    post: (batch) => void write(batch, queue.decided).then(queue.written),
    onTrouble,
  });
  return queue.ledger;
}
