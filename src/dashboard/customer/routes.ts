// The JSON routes of the customer application.

import type { SignedInCustomer } from '../../identity/signed-in.ts';
import { customerAuthRoutes } from '../auth/routes.ts';
import type { DashboardDependencies } from '../dependencies.ts';
import type { CustomerRoutes, Route } from '../edge/route.ts';
import { createTurns } from '../edge/turns.ts';
import { accountRoutes, type OwnDependencies } from './account.ts';
import { auditRoutes } from './audit.ts';
import { createExports } from './exports.ts';
import { keyRoutes } from './keys.ts';
import { ledgerRoutes } from './ledger.ts';
import { feedRoutes } from './live.ts';
import { modelRoutes, playgroundRoutes, referenceRoutes } from './models.ts';
import { overviewRoutes } from './overview.ts';
import { archiveRoutes, receiptRoutes } from './receipts.ts';
import { redemptionRoutes } from './redemption.ts';
import { requestChartRoutes } from './request-chart.ts';
import { requestRoutes } from './requests.ts';
import { usageRoutes } from './usage.ts';

export function customerRoutes(
  dependencies: DashboardDependencies,
): readonly (Route<SignedInCustomer> | Route<undefined>)[] {
  return [
    ...customerAuthRoutes(dependencies),
    ...ownRoutes(dependencies),
    ...referenceRoutes(),
    ...playgroundRoutes(dependencies),
  ];
}

/** The routes of an account's own data. */
export function ownRoutes(dependencies: OwnDependencies): CustomerRoutes {
  const exports = createExports();
  const inTurn = createTurns();
  return [
    ...accountRoutes(dependencies),
    ...overviewRoutes(dependencies),
    ...feedRoutes(dependencies),
    ...keyRoutes(dependencies, inTurn),
    ...modelRoutes(dependencies),
    ...auditRoutes(dependencies),
    ...usageRoutes(dependencies, inTurn),
    ...requestChartRoutes(dependencies),
    ...requestRoutes(dependencies, exports, inTurn),
    ...archiveRoutes(dependencies, exports),
    ...ledgerRoutes(dependencies, exports),
    ...receiptRoutes(dependencies, exports),
    ...redemptionRoutes(dependencies),
  ];
}
