// What a command works with: settings, catalog and database, each read when it is first asked for.
// Made anew for every command by the program, which also closes it. Nothing here is global.

import { randomBytes } from 'node:crypto';
import { type LoadedCatalog, loadFound } from '../catalog/live.ts';
import { type FoundCatalog, findCatalog } from '../catalog/source.ts';
import { readConfig } from '../config/read.ts';
import type { Config } from '../config/settings.ts';
import type { Environment } from '../core/environment.ts';
import type { RandomBytes } from '../core/id.ts';
import type { Catalog } from '../core/model.ts';
import { type AuditTail, createAuditTail } from '../identity/audit-tail.ts';
import { createLedger } from '../ledger/ledger.ts';
import { connectDatabase } from '../store/connect.ts';
import type { Database } from '../store/contract.ts';
import { migrate } from '../store/migrate.ts';
import { environmentPath, type LoadedEnvironment, readEnvironment } from './environment.ts';
import { createStore, type Store } from './store.ts';

export type Context = {
  readonly directory: string;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly randomBytes: RandomBytes;
  /** As it was when it was first asked for. Throws `ConfigError`. */
  readonly environment: () => LoadedEnvironment;
  /** As it is now. Throws `ConfigError`. */
  readonly readEnvironment: () => LoadedEnvironment;
  /** The .env file, which may not exist. */
  readonly environmentPath: string;
  /** Throws `ConfigError`. */
  readonly config: () => Config;
  /** Throws `CatalogError`. */
  readonly catalog: () => Catalog;
  /** Its text, as it was found when it was first asked for. Throws `CatalogError`. */
  readonly foundCatalog: () => FoundCatalog;
  /** The same, with where it comes from. Throws `CatalogError`. */
  readonly loadedCatalog: () => LoadedCatalog;
  /** Opens the database as it is; the caller closes it. Throws `StoreError`. */
  readonly openDatabase: (options: { readonly readonly: boolean }) => Database;
  /** Opens the database once, migrated first. Throws `StoreError`. */
  readonly openStore: () => Promise<Store>;
  /** Tells the nodes to look at once where something was changed; `close` does so too. Never rejects. */
  readonly announce: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export function createContext(processEnvironment: Environment, directory: string): Context {
  const clock = Date.now;
  const readAnew = (): LoadedEnvironment => readEnvironment(processEnvironment, directory);
  const environment = once(readAnew);
  const config = once(() => {
    const { variables, namesInFile } = environment();
    return readConfig(variables, namesInFile);
  });
  const foundCatalog = once(() => {
    const { variables } = environment();
    return findCatalog({ path: config().catalogPath, environment: variables, directory });
  });
  const loadedCatalog = once(() => loadFound(foundCatalog(), clock()));
  const catalog = (): Catalog => loadedCatalog().catalog;
  let store: Store | undefined;
  /** Of what this command changes, where there is a Redis to tell others of it. */
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
      if ((await tail.read()).news.length === 0) return;
      const { announceOnce } = await import('./announcements.ts');
      await announceOnce(redis);
    } catch {
      // They look by themselves all the same.
    }
  }

  function open(options: { readonly readonly: boolean }): Database {
    const { databaseUrl, ledgerSync } = config();
    return connectDatabase({ url: databaseUrl, sync: ledgerSync, patient: true, ...options });
  }

  return {
    directory,
    clock,
    randomBytes,
    environment,
    readEnvironment: readAnew,
    environmentPath: environmentPath(processEnvironment, directory),
    config,
    catalog,
    foundCatalog,
    loadedCatalog,
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

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
