// What the console's routes over people and money have in common: the parts of operations, and an
// account as a record. Called by every one of them.

import type { Account } from '../../identity/accounts.ts';
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
  const record = await accountRecord(parts, account);
  return { ...record, standing: account.standing, blocked: record.standing === 'blocked' };
}
