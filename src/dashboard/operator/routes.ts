// Every JSON route of the operator's console, one line a concern.

import type { SignedInOperator } from '../../identity/session.ts';
import type { ConsoleDependencies } from '../dependencies.ts';
import type { Route } from '../rim/route.ts';

export function operatorRoutes(
  _dependencies: ConsoleDependencies,
): readonly (Route<SignedInOperator> | Route<undefined>)[] {
  return [];
}
