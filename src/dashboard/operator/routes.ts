// The JSON routes of the operator console.

import type { SignedInOperator } from '../../identity/signed-in.ts';
import { operatorAuthRoutes } from '../auth/routes.ts';
import type { ConsoleDependencies } from '../dependencies.ts';
import type { Route } from '../edge/route.ts';
import { accountRoutes } from './accounts.ts';
import { approvalRoutes, movementRoutes } from './approvals.ts';
import { auditRoutes } from './audit.ts';
import { blockRoutes } from './blocks.ts';
import { catalogRoutes } from './catalog.ts';
import { codeRoutes } from './codes.ts';
import { entryRoutes } from './entries.ts';
import { keyRoutes } from './keys.ts';
import { maintenanceRoutes } from './maintenance.ts';
import { modelRoutes } from './models.ts';
import { moneyRoutes } from './money.ts';
import { alertRoutes, nodeRoutes, overviewRoutes } from './overview.ts';
import { peopleRoutes } from './people.ts';
import { priceRoutes } from './prices.ts';
import { requestRoutes } from './requests.ts';
import { selfAuditRoutes } from './self-audit.ts';
import { speedRoutes } from './speeds.ts';
import { tokenRoutes } from './tokens.ts';
import { upstreamRoutes } from './upstreams.ts';

export function operatorRoutes(
  dependencies: ConsoleDependencies,
): readonly (Route<SignedInOperator> | Route<undefined>)[] {
  return [
    ...overviewRoutes(dependencies),
    ...alertRoutes(dependencies),
    ...operatorAuthRoutes(dependencies),
    ...accountRoutes(dependencies),
    ...movementRoutes(dependencies),
    ...approvalRoutes(dependencies),
    ...requestRoutes(dependencies),
    ...keyRoutes(dependencies),
    ...blockRoutes(dependencies),
    ...codeRoutes(dependencies),
    ...peopleRoutes(dependencies),
    ...tokenRoutes(dependencies),
    ...maintenanceRoutes(dependencies),
    ...auditRoutes(dependencies),
    ...modelRoutes(dependencies),
    ...upstreamRoutes(dependencies),
    ...speedRoutes(dependencies),
    ...priceRoutes(dependencies),
    ...catalogRoutes(dependencies),
    ...entryRoutes(dependencies),
    ...moneyRoutes(dependencies),
    ...selfAuditRoutes(dependencies),
    ...nodeRoutes(dependencies),
  ];
}
