// What operations work with, for the commands that show or change something.

import type { Change } from '../operations/audited-change.ts';
import type { OperationDependencies } from '../operations/dependencies.ts';
import { OPERATOR } from './command.ts';
import type { Context } from './context.ts';

/** The catalog is read when an operation first asks for it. */
export async function openParts(context: Context): Promise<OperationDependencies> {
  const { catalog, clock, randomBytes } = context;
  return { ...(await context.openStore()), catalog, clock, randomBytes };
}

/** The catalog first: a broken one refuses the command before it has changed anything. */
export async function openAccounts(context: Context): Promise<OperationDependencies> {
  context.catalog();
  return openParts(context);
}

export async function changeOf(context: Context): Promise<Change> {
  const { clock, randomBytes } = context;
  return { database: (await context.openStore()).database, clock, randomBytes, actor: OPERATOR };
}
