// What the console's routes over people and money have in common: the parts of operations, and an
// account as a record. Called by every one of them.

import type { Account } from '../../identity/accounts.ts';
import { findBlock } from '../../identity/block-list.ts';
import { accountRecord } from '../../operations/accounts.ts';
import type { Parts } from '../../operations/parts.ts';
import type { ConsoleDependencies } from '../dependencies.ts';
import type { OperatorAccountRecord } from '../records/operator-account.ts';

/** What of the server these routes need. */
export type PeopleDependencies = Pick<
  ConsoleDependencies,
  'store' | 'limits' | 'catalog' | 'clock' | 'randomBytes'
>;

export function partsOf({ store, catalog, clock, randomBytes }: PeopleDependencies): Parts {
  return { ...store, catalog, clock, randomBytes };
}

export async function operatorAccount(
  parts: Parts,
  account: Account,
): Promise<OperatorAccountRecord> {
  const block = await findBlock(parts.database, 'account', account.id, parts.clock());
  return { ...(await accountRecord(parts, account)), blocked: block !== undefined };
}
