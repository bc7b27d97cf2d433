// What a command works with: settings, catalog and database, each read on first use. The program
// makes one per command and closes it. Nothing here is global.

import { randomBytes } from 'node:crypto';
import type { Environment } from '../core/environment.ts';
import type { RandomBytes } from '../core/id.ts';
import type { Catalog } from '../core/model.ts';
import { type AuditTail, createAuditTail } from '../identity/audit-tail.ts';
import { createLedger } from '../ledger/ledger.ts';
import { createStore, type Store } from '../operations/store.ts';
import { createInputs, type Inputs } from '../server/inputs.ts';
import { connectDatabase } from '../store/connect.ts';
import type { Database } from '../store/contract.ts';
import { migrate } from '../store/migrate.ts';

export type Context = Inputs & {
  readonly randomBytes: RandomBytes;
  /** Throws `CatalogError`. */
  readonly catalog: () => Catalog;
  /** Opens the database as it is; the caller closes it. Throws `StoreError`. */
  readonly openDatabase: (options: { readonly readonly: boolean }) => Database;
  /** Opens the database once, migrated first. Throws `StoreError`. */
  readonly openStore: () => Promise<Store>;
  /**
   * Asks the nodes to look at once if something was changed; `close` does so too. Never rejects.
   */
  readonly announce: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export function createContext(processEnvironment: Environment, directory: string): Context {
  const inputs = createInputs(processEnvironment, directory);
  const { clock, config } = inputs;
  const catalog = (): Catalog => inputs.loadedCatalog().catalog;
  let store: Store | undefined;
  /** Detects this command's changes, where there is a Redis to announce them. */
  let tail: AuditTail | undefined;

  async function openStore(): Promise<Store> {
    if (store !== undefined) return store;
    store = await buildStore(open({ readonly: false }), clock, () => catalog().plans);
    if (config().redis !== undefined) {
      tail = createAuditTail(store.database);
      await tail.read();
    }
    return store;
  }

  async function announce(): Promise<void> {
    const { redis } = config();
    try {
      if (tail === undefined || redis === undefined) return;
      if ((await tail.read()).events.length === 0) return;
      const { announceOnce } = await import('../server/announcements.ts');
      await announceOnce(redis);
    } catch {
      // The nodes poll anyway.
    }
  }

  function open(options: { readonly readonly: boolean }): Database {
    const { databaseUrl, ledgerSync } = config();
    return connectDatabase({ url: databaseUrl, sync: ledgerSync, patient: true, ...options });
  }

  return {
    ...inputs,
    randomBytes,
    catalog,
    openDatabase: open,
    openStore,
    announce,
    async close() {
      if (store !== undefined) await announce();
      await store?.ledger.close();
      await store?.database.close();
      store = undefined;
    },
  };
}

async function buildStore(
  database: Database,
  clock: () => number,
  plans: () => Catalog['plans'],
): Promise<Store> {
  try {
    await migrate(database);
  } catch (error) {
    await database.close();
    throw error;
  }
  const ledger = createLedger({ database });
  return createStore({ database, ledger, clock, randomBytes, plans });
}
