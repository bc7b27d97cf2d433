// Every JSON route of the customers' application, one line a concern.

import type { SignedInCustomer } from '../../identity/session.ts';
import type { DashboardDependencies } from '../dependencies.ts';
import type { Route } from '../rim/route.ts';
import { playgroundRoutes } from './playground.ts';

export function customerRoutes(
  dependencies: DashboardDependencies,
): readonly (Route<SignedInCustomer> | Route<undefined>)[] {
  return [...playgroundRoutes(dependencies)];
}
