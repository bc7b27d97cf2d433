// Names of the account's keys for lists and files: the key's name or its masked form.

import { PLAYGROUND_KEY_ID } from '../../core/id.ts';
import type { OwnDependencies } from './account.ts';

/** An unknown id stands for itself. */
export async function keyNames(
  { keys }: Pick<OwnDependencies['store'], 'keys'>,
  accountId: string,
): Promise<(id: string) => string> {
  const names = new Map(
    (await keys.list(accountId)).map(({ id, name, masked }) => [id, name ?? masked]),
  );
  names.set(PLAYGROUND_KEY_ID, 'Playground');
  return (id) => names.get(id) ?? id;
}
