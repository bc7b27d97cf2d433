// A key that somebody asks about: whose it is, and whether it is blocked. Called by `tollgate key
// show` and by the console, with the id or with the whole key as a customer pasted it.

import { findBlock } from '../identity/block-list.ts';
import { keyRecord } from '../identity/key-record.ts';
import { readAccount } from './account-records.ts';
import { blockSummary } from './blocks.ts';
import type { OperationDependencies } from './dependencies.ts';

/** Throws `key_not_found`. Nothing of what is answered holds the key itself. */
export async function findKey(
  parts: Pick<OperationDependencies, 'keys' | 'database' | 'catalog' | 'clock'>,
  idOrKey: string,
) {
  const { keys, database, clock } = parts;
  const row = await keys.find(idOrKey.trim());
  return {
    key: keyRecord(row, clock()),
    account: await readAccount(parts, row.accountId),
    block: blockSummary(await findBlock(database, 'key', row.id, clock())),
  } as const;
}
