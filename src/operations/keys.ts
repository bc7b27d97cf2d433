// A key that somebody asks about: whose it is, and whether it is blocked. Called by `tollgate key
// show` and by the console, with the id or with the whole key as a customer pasted it.

import { findBlock } from '../identity/block-list.ts';
import { keyRecord } from '../identity/key-record.ts';
import { blockSummary } from './blocks.ts';
import type { Parts } from './parts.ts';

/** Throws `key_not_found`. Nothing of what is answered holds the key itself. */
export async function findKey(
  { keys, accounts, database, clock }: Pick<Parts, 'keys' | 'accounts' | 'database' | 'clock'>,
  idOrKey: string,
) {
  const row = await keys.find(idOrKey.trim());
  return {
    key: keyRecord(row, clock()),
    account: await accounts.get(row.accountId),
    block: blockSummary(await findBlock(database, 'key', row.id, clock())),
  } as const;
}
