// What operations over accounts work with, for the commands that show or change one.

import type { OperationDependencies } from '../operations/dependencies.ts';
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
