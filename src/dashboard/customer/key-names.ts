// Names of the account's keys for lists and files: the key's name or its masked form.

import { PLAYGROUND_KEY_ID } from '../../core/id.ts';
import type { OwnDependencies } from './account.ts';

/** Rotations leave an account with any number of keys, so only those of `ids` are read. */
export async function keyNames(
  { keys }: Pick<OwnDependencies['store'], 'keys'>,
  accountId: string,
  ids: Iterable<string>,
): Promise<KeyName> {
  const wanted = [...new Set(ids)];
  const names = new Map([[PLAYGROUND_KEY_ID, 'Playground']]);
  for (let from = 0; from < wanted.length; from += KEYS_PER_STATEMENT) {
    const found = await keys.several(accountId, wanted.slice(from, from + KEYS_PER_STATEMENT));
    for (const { id, name, masked } of found) names.set(id, name ?? masked);
  }
  return (id) => names.get(id) ?? id;
}

/** An unknown id stands for itself. */
export type KeyName = (id: string) => string;

const KEYS_PER_STATEMENT = 500;
