// The customers' own data as JSON. The cookie of a request is the account's id.

import { randomBytes } from 'node:crypto';
import { loadCatalog } from '../../../src/catalog/catalog.ts';
import { DEMO_CATALOG } from '../../../src/catalog/demo-catalog.ts';
import type { OwnDependencies } from '../../../src/dashboard/customer/account.ts';
import { ownRoutes } from '../../../src/dashboard/customer/routes.ts';
import {
  createCallLimit,
  createChangeLimit,
  READS,
} from '../../../src/dashboard/edge/call-limit.ts';
import type { SignedInCustomer } from '../../../src/identity/signed-in.ts';
import { createTopUps } from '../../../src/operations/top-ups.ts';
import { creditOf, holdOf, settleOf } from '../../support/ledger.ts';
import { serviceState } from '../../support/service-state.ts';
import { ADDRESS, openApp, openDomains } from '../app.ts';

/** A Saturday at noon. */
export const NOW_MS = Date.UTC(2026, 10, 21, 12);

export type CustomerApp = Awaited<ReturnType<typeof openCustomerApp>>;

/** `catalog` is added to the demonstration catalog. Everything is closed by `close`. */
export async function openCustomerApp(directory: string, { catalog = '' } = {}) {
  let now = NOW_MS;
  const clock = () => now;
  const loaded = loadCatalog({ text: `${DEMO_CATALOG}\n${catalog}`, environment: {}, nowMs: now });
  let state = serviceState(loaded);
  const { database, store, limits, close } = await openDomains(directory, {
    clock,
    plans: () => state.catalog.plans,
  });
  const { accounts, ledger } = store;
  const signedOut = new Set<string>();
  let changes = 0;
  let seen = 0;
  let address = ADDRESS;
  let draining = false;
  const dependencies: OwnDependencies = {
    archives: undefined,
    store,
    topUps: createTopUps({ secret: 'a secret of these tests', clock, randomBytes }),
    limits,
    serviceState: () => state,
    baseUrl: () => 'https://gate.example',
    offersResponses: true,
    mailMode: 'log',
    draining: () => draining,
    clock,
    randomBytes,
  };
  const limitReads = createCallLimit({ monotonic: clock, ...READS });
  const app = openApp<SignedInCustomer>({
    session: async (headers, look) => {
      if (look?.quiet !== true) seen += 1;
      const accountId = headers.get('cookie') ?? '';
      if (accountId === '' || signedOut.has(accountId)) return undefined;
      const { email } = await accounts.get(accountId);
      const facts = { realm: 'customer', accountId, email, twoFactor: false } as const;
      return { ...facts, userId: 'user_1', sessionId: 'session_1', provenAt: now, expiresAt: now };
    },
    standing: async ({ accountId }) => {
      const { standing } = await accounts.get(accountId);
      return standing === 'active' ? undefined : standing;
    },
    limitChanges: createChangeLimit({ monotonic: clock }),
    limitReads: ({ accountId }) => limitReads(accountId),
    address: () => address,
    clock,
    async onChange() {
      changes += 1;
    },
    prefix: '/dashboard',
    routes: ownRoutes(dependencies),
  });

  async function ask(accountId: string, method: string, path: string, body?: unknown) {
    const { status, json } = await app.ask(accountId, method, path, body);
    return { status, json };
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
    ...store,
    database,
    dependencies,
    limits,
    handle: app.handle,
    open: app.open,
    ask,
    close,
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
  };
}
