// What operations over accounts work with, for the commands that show or change one.

import type { Parts } from '../operations/parts.ts';
import type { Context } from './context.ts';

/** The catalog is read when an operation first asks for it. */
export function openParts(context: Context): Parts {
  const { catalog, clock, randomBytes } = context;
  return { ...context.openStore(), catalog, clock, randomBytes };
}

/** The catalog first: a broken one refuses the command before it has changed anything. */
export function openAccounts(context: Context): Parts {
  context.catalog();
  return openParts(context);
}
