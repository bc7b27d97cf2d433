// The console's JSON for people and money, over real domains and a real database, called as a page
// calls it: through the guard, from its own origin. Only the session is a stub: the cookie is the
// operator's address, who need not be a user.

import { randomBytes } from 'node:crypto';
import { loadCatalog } from '../../../src/catalog/catalog.ts';
import { DEMO_CATALOG } from '../../../src/catalog/demo-catalog.ts';
import { createIncidents } from '../../../src/catalog/incidents.ts';
import { micro } from '../../../src/core/money.ts';
import { createDashboardApp } from '../../../src/dashboard/edge/app.ts';
import { STEP_UP_MS } from '../../../src/dashboard/edge/guard.ts';
import { accountRoutes } from '../../../src/dashboard/operator/accounts.ts';
import { approvalRoutes } from '../../../src/dashboard/operator/approvals.ts';
import { auditRoutes } from '../../../src/dashboard/operator/audit.ts';
import { blockRoutes } from '../../../src/dashboard/operator/blocks.ts';
import { codeRoutes } from '../../../src/dashboard/operator/codes.ts';
import type { PeopleDependencies } from '../../../src/dashboard/operator/dependencies.ts';
import { keyRoutes } from '../../../src/dashboard/operator/keys.ts';
import { maintenanceRoutes } from '../../../src/dashboard/operator/maintenance.ts';
import { movementRoutes } from '../../../src/dashboard/operator/movements.ts';
import { requestRoutes } from '../../../src/dashboard/operator/requests.ts';
import { tokenRoutes } from '../../../src/dashboard/operator/tokens.ts';
import { createBlocks } from '../../../src/identity/blocks.ts';
import { createSettings } from '../../../src/identity/settings.ts';
import type { SignedInOperator } from '../../../src/identity/signed-in.ts';
import { createBooks } from '../../../src/ledger/books.ts';
import { createHistory } from '../../../src/ledger/history.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import { createLimits } from '../../../src/limits/limits.ts';
import { createIdentity } from '../../identity/fixtures.ts';
import { connectAgain, newDatabase } from '../../support/database.ts';
import { onDisk } from '../../support/ledger.ts';

export const ROUTES = [
  accountRoutes,
  movementRoutes,
  approvalRoutes,
  requestRoutes,
  keyRoutes,
  blockRoutes,
  codeRoutes,
  maintenanceRoutes,
  auditRoutes,
  tokenRoutes,
];

const ORIGIN = 'http://console.test';

export const OPERATOR = 'ops@example.com';
export const ADDRESS = '203.0.113.7';

export type Answer = {
  readonly status: number;
  readonly json: Record<string, unknown>;
  readonly text: string;
};

/** Everything is closed by `close`. */
export async function openConsole(directory: string) {
  const database = await newDatabase(directory);
  // The ledger of a server has a connection of its own, too.
  const booksDatabase = connectAgain(database);
  const ledger = onDisk(createLedger({ database: booksDatabase }));
  const identity = createIdentity(database);
  const { clock } = identity;
  const catalog = loadCatalog({ text: DEMO_CATALOG, environment: {}, nowMs: clock() });
  /** Of operators who are users, by address. */
  const userIds = new Map<string, string>();
  let provenAt = clock();
  let changes = 0;
  const dependencies: PeopleDependencies = {
    store: {
      database,
      ledger,
      books: createBooks(database),
      accounts: identity.accounts,
      keys: identity.keys,
      blocks: createBlocks(identity),
      settings: createSettings(identity),
      incidents: createIncidents(identity),
    },
    limits: await createLimits({
      clock,
      monotonic: clock,
      isLive: () => true,
      history: createHistory(database),
    }),
    catalog: () => catalog,
    fourEyesAbove: micro(1_000_000_000_000n),
    clock,
    randomBytes,
    draining: () => false,
  };
  const handle = createDashboardApp<SignedInOperator>({
    session: async (headers) => {
      const email = headers.get('cookie') ?? '';
      if (email === '') return undefined;
      const facts = { realm: 'operator', role: 'admin', email, twoFactor: false } as const;
      return {
        ...facts,
        userId: userIds.get(email) ?? `user of ${email}`,
        sessionId: 'session_1',
        provenAt,
        expiresAt: provenAt,
      };
    },
    isOpen: async () => true,
    standing: async () => undefined,
    address: () => ADDRESS,
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
    prefix: '/operator',
    routes: ROUTES.flatMap((routes) => routes(dependencies)),
    files: { page: () => new Response(''), serve: () => new Response('') },
  });

  async function ask(
    method: string,
    path: string,
    body?: unknown,
    cookie = OPERATOR,
  ): Promise<Answer> {
    const response = await handle(
      new Request(`${ORIGIN}/operator/api${path}`, {
        method,
        headers: { cookie, origin: ORIGIN, 'content-type': 'application/json' },
        ...(method === 'GET' ? {} : { body: JSON.stringify(body ?? {}) }),
      }),
      null,
    );
    const text = await response.text();
    return { status: response.status, text, json: text === '' ? {} : JSON.parse(text) };
  }

  let emails = 0;
  return {
    ...dependencies.store,
    dependencies,
    identity,
    userIds,
    handle,
    ask,
    get: (path: string) => ask('GET', path),
    post: (path: string, body?: unknown) => ask('POST', path, body),
    /** The status and the code of a refusal. */
    async refusal(method: string, path: string, body?: unknown): Promise<readonly unknown[]> {
      const { status, json } = await ask(method, path, body);
      return [status, (json['error'] as { code?: string } | undefined)?.code];
    },
    /** A new account on `pro`; answers its id. */
    async account(email?: string): Promise<string> {
      emails += 1;
      const facts = { email: email ?? `customer-${emails}@example.com`, plan: 'pro' };
      return (await identity.accounts.create({ ...facts, emailVerified: true }, 'operator')).id;
    },
    advance: identity.advance,
    /** The password was last proven too long ago. */
    forgetProof: () => {
      provenAt = clock() - STEP_UP_MS;
    },
    proveAgain: () => {
      provenAt = clock();
    },
    changes: () => changes,
    async close(): Promise<void> {
      await ledger.close();
      await booksDatabase.close();
      await database.close();
    },
  };
}
