// The customers' JSON over real domains and a real database, called as a page calls it: through the
// guard, from its own origin. Only the session is a stub: the cookie is the account's id.

import { randomBytes } from 'node:crypto';
import { loadCatalog } from '../../../src/catalog/catalog.ts';
import { DEMO_CATALOG } from '../../../src/catalog/demo-catalog.ts';
import { createIncidents } from '../../../src/catalog/incidents.ts';
import { accountRoutes, type OwnDependencies } from '../../../src/dashboard/customer/account.ts';
import { auditRoutes } from '../../../src/dashboard/customer/audit.ts';
import { createExports } from '../../../src/dashboard/customer/exports.ts';
import { keyRoutes } from '../../../src/dashboard/customer/keys.ts';
import { ledgerRoutes } from '../../../src/dashboard/customer/ledger.ts';
import { feedRoutes } from '../../../src/dashboard/customer/live.ts';
import { modelRoutes } from '../../../src/dashboard/customer/models.ts';
import { overviewRoutes } from '../../../src/dashboard/customer/overview.ts';
import { receiptRoutes } from '../../../src/dashboard/customer/receipts.ts';
import { redemptionRoutes } from '../../../src/dashboard/customer/redemption.ts';
import { requestChartRoutes } from '../../../src/dashboard/customer/request-chart.ts';
import { requestRoutes } from '../../../src/dashboard/customer/requests.ts';
import { usageRoutes } from '../../../src/dashboard/customer/usage.ts';
import { createDashboardApp } from '../../../src/dashboard/edge/app.ts';
import {
  createCallLimit,
  createChangeLimit,
  READS,
} from '../../../src/dashboard/edge/call-limit.ts';
import type { RouteServer } from '../../../src/dashboard/edge/route.ts';
import { createTurns } from '../../../src/dashboard/edge/turns.ts';
import { createAccounts } from '../../../src/identity/accounts.ts';
import { createBlocks } from '../../../src/identity/blocks.ts';
import { createKeys } from '../../../src/identity/keys.ts';
import { createSettings } from '../../../src/identity/settings.ts';
import type { SignedInCustomer } from '../../../src/identity/signed-in.ts';
import { createBooks } from '../../../src/ledger/books.ts';
import { createHistory } from '../../../src/ledger/history.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import { createLimits } from '../../../src/limits/limits.ts';
import { connectAgain, newDatabase } from '../../support/database.ts';
import { creditOf, holdOf, onDisk, settleOf } from '../../support/ledger.ts';
import { operatorState } from '../../support/operator.ts';
import { pageRequest } from '../request.ts';

/** A Saturday at noon. */
export const NOW_MS = Date.UTC(2026, 10, 21, 12);

const ORIGIN = 'http://dashboard.test';

export type Answer = { readonly status: number; readonly json: Record<string, unknown> };

export type CustomerApp = Awaited<ReturnType<typeof openCustomerApp>>;

/** `catalog` is added to the demonstration catalog. Everything is closed by `close`. */
export async function openCustomerApp(directory: string, { catalog = '' } = {}) {
  const database = await newDatabase(directory);
  // The ledger of a server has a connection of its own, too.
  const booksDatabase = connectAgain(database);
  const ledger = onDisk(createLedger({ database: booksDatabase }));
  const books = createBooks(database);
  let now = NOW_MS;
  const clock = () => now;
  const loaded = loadCatalog({ text: `${DEMO_CATALOG}\n${catalog}`, environment: {}, nowMs: now });
  let state = operatorState(loaded);
  const shared = { database, clock, randomBytes, plans: () => state.catalog.plans };
  const accounts = createAccounts({ ...shared, openBalance: books.openBalance });
  const signedOut = new Set<string>();
  const exports = createExports();
  let changes = 0;
  let seen = 0;
  let address = '203.0.113.7';
  let draining = false;
  const limits = await createLimits({
    clock,
    monotonic: clock,
    isLive: () => true,
    history: createHistory(database),
  });
  const dependencies: OwnDependencies = {
    archives: undefined,
    store: {
      database,
      ledger,
      books,
      accounts,
      keys: createKeys(shared),
      blocks: createBlocks(shared),
      settings: createSettings(shared),
      incidents: createIncidents(shared),
    },
    limits,
    operator: () => state,
    baseUrl: () => 'https://gate.example',
    mailMode: 'log',
    draining: () => draining,
    clock,
    randomBytes,
  };
  const limitReads = createCallLimit({ monotonic: clock, ...READS });
  const inTurn = createTurns();
  const handle = createDashboardApp<SignedInCustomer>({
    session: async (headers, look) => {
      if (look?.quiet !== true) seen += 1;
      const accountId = headers.get('cookie') ?? '';
      if (accountId === '' || signedOut.has(accountId)) return undefined;
      const { email } = await accounts.get(accountId);
      const facts = { realm: 'customer', accountId, email, twoFactor: false } as const;
      return { ...facts, userId: 'user_1', sessionId: 'session_1', provenAt: now, expiresAt: now };
    },
    isOpen: async () => true,
    standing: async ({ accountId }) => {
      const { standing } = await accounts.get(accountId);
      return standing === 'active' ? undefined : standing;
    },
    limitChanges: createChangeLimit({ monotonic: clock }),
    limitReads: ({ accountId }) => limitReads(accountId),
    address: () => address,
    origin: ORIGIN,
    isHttps: () => false,
    clock,
    randomBytes,
    async onChange() {
      changes += 1;
    },
    onInternal: (_requestId, error) => {
      throw error;
    },
    prefix: '/dashboard',
    routes: [
      ...accountRoutes(dependencies),
      ...overviewRoutes(dependencies),
      ...feedRoutes(dependencies),
      ...keyRoutes(dependencies, inTurn),
      ...modelRoutes(dependencies),
      ...auditRoutes(dependencies),
      ...usageRoutes(dependencies, inTurn),
      ...requestRoutes(dependencies, exports, inTurn),
      ...requestChartRoutes(dependencies),
      ...ledgerRoutes(dependencies, exports),
      ...receiptRoutes(dependencies, exports),
      ...redemptionRoutes({ ...dependencies, randomBytes }),
    ],
    files: { page: () => new Response(''), serve: () => new Response('') },
  });

  function open(
    accountId: string,
    method: string,
    path: string,
    body?: unknown,
    { signal, server = null }: { signal?: AbortSignal; server?: RouteServer | null } = {},
  ): Promise<Response> {
    const url = `${ORIGIN}/dashboard/api${path}`;
    return handle(pageRequest(url, accountId, method, body, signal), server);
  }

  async function ask(
    accountId: string,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<Answer> {
    const response = await open(accountId, method, path, body);
    const text = await response.text();
    return { status: response.status, json: text === '' ? {} : JSON.parse(text) };
  }

  let requests = 0;
  /** Books a request of an account that started now and cost `charge`, in 10⁻⁶ service token. */
  async function spend(accountId: string, charge: bigint): Promise<void> {
    requests += 1;
    const requestId = `req_${requests}`;
    await ledger.hold({ ...holdOf(requestId, accountId, charge), nowMs: now });
    await ledger.settle({ ...settleOf(requestId, charge), nowMs: now });
  }

  let emails = 0;
  return {
    database,
    dependencies,
    handle,
    limits,
    accounts,
    keys: dependencies.store.keys,
    ledger,
    open,
    ask,
    spend,
    get: (accountId: string, path: string) => ask(accountId, 'GET', path),
    /** A new account with `credit` service tokens; its id is its session. */
    async customer({ plan = 'pro', credit = 0n, verified = true } = {}): Promise<string> {
      emails += 1;
      const email = `customer-${emails}@example.com`;
      const { id } = await accounts.create({ email, plan, emailVerified: verified }, 'operator');
      if (credit > 0n) {
        await ledger.credit({
          ...creditOf(`credit-${emails}`, id, credit * 1_000_000n),
          nowMs: now,
        });
      }
      return id;
    },
    /** The network address of all later calls. */
    move(to: string): void {
      address = to;
    },
    advance(ms: number): void {
      now += ms;
    },
    operate: (more: Partial<typeof state>) => {
      state = { ...state, ...more };
    },
    signOut: (accountId: string) => void signedOut.add(accountId),
    drain: () => {
      draining = true;
    },
    changes: () => changes,
    /** Counts user activity, not polling by pages. */
    seen: () => seen,
    async close(): Promise<void> {
      await ledger.close();
      await booksDatabase.close();
      await database.close();
    },
  };
}
