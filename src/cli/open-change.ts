// What operations that change something get from a command: its database, and who acts.

import type { Change } from '../operations/audited-change.ts';
import { OPERATOR } from './command.ts';
import type { Context } from './context.ts';

export async function changeOf(context: Context): Promise<Change> {
  const { clock, randomBytes } = context;
  return { database: (await context.openStore()).database, clock, randomBytes, actor: OPERATOR };
}
