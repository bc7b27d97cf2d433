// Shows new keys, and finds a key for an operator by its id or by the whole key: its account, and
// whether it is blocked.

import { findBlock } from '../identity/blocks.ts';
import { type ApiKey, keyRecord } from '../identity/key-record.ts';
import { readAccount } from './account-records.ts';
import { blockSummary } from './blocks.ts';
import type { OperationDependencies } from './dependencies.ts';

type MadeKey = { readonly row: ApiKey; readonly key: string };

/** A key with its text, which is not stored. */
export function createdKeyRecord({ row, key }: MadeKey, nowMs: number) {
  return { ...keyRecord(row, nowMs), key } as const;
}

export function rotatedKeyRecord(
  { replaced, created }: { readonly replaced: ApiKey; readonly created: MadeKey },
  nowMs: number,
) {
  return {
    replaced: keyRecord(replaced, nowMs),
    created: createdKeyRecord(created, nowMs),
  } as const;
}

/** Throws `key_not_found`. The result never contains the key itself. */
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
