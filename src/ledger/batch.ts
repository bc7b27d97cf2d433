// One batch at work: what is known, what was read for it, and what it changes. Made by the writer for
// each batch, and given to everything that decides.

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
