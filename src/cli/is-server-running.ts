// Whether a server runs on the database of a command, for commands that tell it something.

import { isAnyLive } from '../cluster/confirm.ts';
import { databaseFile } from '../store/connect.ts';
import { isServed } from '../store/owner.ts';
import type { Context } from './context.ts';

/** A server of a file that was killed still looks alive for some seconds, and its lock does not. */
export async function isServing(context: Context): Promise<boolean> {
  const { databaseUrl } = context.config();
  if (databaseFile(databaseUrl) !== undefined) return isServed(databaseUrl);
  return isAnyLive((await context.openStore()).database);
}
