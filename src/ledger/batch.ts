// The state of one batch: the cached books, what was read for it, and its changes. The writer makes
// one for each batch and passes it to every command.

import { LedgerRefusal } from './error.ts';
import type { AccountBooks, BatchFacts, Changes, Memory } from './memory.ts';
import type { Names } from './names.ts';

export type LedgerBatch = {
  readonly memory: Memory;
  readonly facts: BatchFacts;
  readonly names: Names;
  readonly changes: Changes;
};

/** Throws `LedgerRefusal` for an unknown account. */
export function accountOf({ memory }: LedgerBatch, accountId: string): AccountBooks {
  const account = memory.accounts.get(accountId);
  if (account === undefined) throw new LedgerRefusal('There is no account with this id.');
  return account;
}
