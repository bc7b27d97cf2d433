// Whether a server runs on the database of a command.

import { isAnyLive } from '../cluster/confirm.ts';
import { databaseFile } from '../store/connect.ts';
import { isServed } from '../store/owner.ts';
import type { Context } from './context.ts';

/** On SQLite it checks the lock: the heartbeat of a killed server looks alive for some seconds. */
export async function isServing(context: Context): Promise<boolean> {
  const { databaseUrl } = context.config();
  if (databaseFile(databaseUrl) !== undefined) return isServed(databaseUrl);
  return isAnyLive((await context.openStore()).database);
}
