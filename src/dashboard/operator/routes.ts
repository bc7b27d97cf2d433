// The JSON routes of the operator console. Those with a scope are the operators' API, too.

import { operatorAuthRoutes } from '../auth/routes.ts';
import type { ConsoleDependencies } from '../dependencies.ts';
import type { ConsoleRoutes } from '../edge/route.ts';
import { accountRoutes } from './accounts.ts';
import { approvalRoutes, movementRoutes } from './approvals.ts';
import { auditRoutes } from './audit.ts';
import { blockRoutes } from './blocks.ts';
import { catalogRoutes } from './catalog.ts';
import { catalogTextRoutes } from './catalog-text.ts';
import { codeRoutes } from './codes.ts';
import { creditRoutes } from './credits.ts';
import { keyRoutes } from './keys.ts';
import { maintenanceRoutes } from './maintenance.ts';
import { modelRoutes } from './models.ts';
import { moneyRoutes } from './money.ts';
import { alertRoutes, nodeRoutes, overviewRoutes } from './overview.ts';
import { peopleRoutes } from './people.ts';
import { planRoutes } from './plans.ts';
import { priceSheetRoutes } from './price-sheet.ts';
import { priceRoutes } from './prices.ts';
import { requestRoutes } from './requests.ts';
import { selfAuditRoutes } from './self-audit.ts';
import { speedRoutes } from './speeds.ts';
import { tokenRoutes } from './tokens.ts';
import { upstreamRoutes } from './upstreams.ts';
import { usageRoutes } from './usage.ts';

export function operatorRoutes(dependencies: ConsoleDependencies): ConsoleRoutes {
  return [
    ...overviewRoutes(dependencies),
    ...alertRoutes(dependencies),
    ...operatorAuthRoutes(dependencies),
    ...accountRoutes(dependencies),
    ...usageRoutes(dependencies),
    ...movementRoutes(dependencies),
    ...creditRoutes(dependencies),
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
    ...priceSheetRoutes(dependencies),
    ...priceRoutes(dependencies),
    ...catalogRoutes(dependencies),
    ...catalogTextRoutes(dependencies),
    ...planRoutes(dependencies),
    ...moneyRoutes(dependencies),
    ...selfAuditRoutes(dependencies),
    ...nodeRoutes(dependencies),
  ];
}
