// The console's JSON for people and money, over real domains and a real database.

import { randomBytes } from 'node:crypto';
import { loadCatalog } from '../../../src/catalog/catalog.ts';
import { DEMO_CATALOG } from '../../../src/catalog/demo-catalog.ts';
import { micro } from '../../../src/core/money.ts';
import { accountRoutes } from '../../../src/dashboard/operator/accounts.ts';
import { approvalRoutes, movementRoutes } from '../../../src/dashboard/operator/approvals.ts';
import { auditRoutes } from '../../../src/dashboard/operator/audit.ts';
import { blockRoutes } from '../../../src/dashboard/operator/blocks.ts';
import { codeRoutes } from '../../../src/dashboard/operator/codes.ts';
import { creditRoutes } from '../../../src/dashboard/operator/credits.ts';
import type { PeopleDependencies } from '../../../src/dashboard/operator/dependencies.ts';
import { keyRoutes } from '../../../src/dashboard/operator/keys.ts';
import { maintenanceRoutes } from '../../../src/dashboard/operator/maintenance.ts';
import { priceSheetRoutes } from '../../../src/dashboard/operator/price-sheet.ts';
import { requestRoutes } from '../../../src/dashboard/operator/requests.ts';
import { tokenRoutes } from '../../../src/dashboard/operator/tokens.ts';
import { usageRoutes } from '../../../src/dashboard/operator/usage.ts';
import { createTopUps } from '../../../src/operations/top-ups.ts';
import { START_MS } from '../../identity/fixtures.ts';
import { openDomains } from '../app.ts';
import { openOperatorApp } from './app.ts';

export { ADDRESS, type Answer } from '../app.ts';
export { OPERATOR } from './app.ts';

export const ROUTES = [
  accountRoutes,
  usageRoutes,
  movementRoutes,
  creditRoutes,
  approvalRoutes,
  requestRoutes,
  keyRoutes,
  blockRoutes,
  codeRoutes,
  maintenanceRoutes,
  auditRoutes,
  priceSheetRoutes,
  tokenRoutes,
];

/** Everything is closed by `close`. */
export async function openConsole(directory: string) {
  let now = START_MS;
  const clock = () => now;
  const catalog = loadCatalog({ text: DEMO_CATALOG, environment: {}, nowMs: now });
  const { store, limits, close } = await openDomains(directory, {
    clock,
    plans: () => catalog.plans,
  });
  /** Of operators who are users, by address. */
  const userIds = new Map<string, string>();
  let changes = 0;
  const dependencies: PeopleDependencies = {
    store,
    topUps: createTopUps({ secret: 'a secret of these tests', clock, randomBytes }),
    limits,
    catalog: () => catalog,
    fourEyesAbove: micro(1_000_000_000_000n),
    clock,
    randomBytes,
    draining: () => false,
  };
  const routes = ROUTES.flatMap((each) => each(dependencies));
  const app = openOperatorApp({
    routes,
    clock,
    async onChange() {
      changes += 1;
    },
    userIdOf: (email) => userIds.get(email) ?? `user of ${email}`,
  });

  let emails = 0;
  return {
    ...store,
    dependencies,
    routes,
    clock,
    identity: { ...store, clock },
    close,
    userIds,
    ...app,
    get: (path: string) => app.ask('GET', path),
    /** A new account on `pro`; answers its id. */
    async account(email?: string): Promise<string> {
      emails += 1;
      const facts = { email: email ?? `customer-${emails}@example.com`, plan: 'pro' };
      return (await store.accounts.create({ ...facts, emailVerified: true }, 'operator')).id;
    },
    advance(ms: number): void {
      now += ms;
    },
    changes: () => changes,
  };
}
