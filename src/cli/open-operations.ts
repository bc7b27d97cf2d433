// Opens the dependencies of operations for commands.

import type { Change } from '../identity/audit.ts';
import type { OperationDependencies } from '../operations/dependencies.ts';
import { OPERATOR } from './command.ts';
import type { Context } from './context.ts';

/** The catalog is read on first use. */
export async function openParts(context: Context): Promise<OperationDependencies> {
  const { catalog, clock, randomBytes } = context;
  return { ...(await context.openStore()), catalog, clock, randomBytes };
}

/** Reads the catalog first: a broken one fails the command before any change. */
export async function openAccounts(context: Context): Promise<OperationDependencies> {
  context.catalog();
  return openParts(context);
}

export async function changeOf(context: Context): Promise<Change> {
  const { clock, randomBytes } = context;
  return { database: (await context.openStore()).database, clock, randomBytes, actor: OPERATOR };
}
