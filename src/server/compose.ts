// Constructs all parts of a server, in the order of their dependencies. Starts nothing: serve does.
//
// base     settings, clocks, randomness, log and alerts
// store    the database, the ledger and this node
// path     all that answers requests: domains, limits, pipeline and handlers
// upkeep   what works beside requests: audit, backups, archives, alerts
// surface  what both listeners answer with

import { createLiveCatalog } from '../catalog/live.ts';
import { archiveDirectory } from '../operations/archive/files.ts';
import { type Base, createBase, type ServingConfig } from './base.ts';
import { createCatalogFile } from './catalog-file.ts';
import type { Inputs } from './inputs.ts';
import { createRequestPath, type RequestPath } from './request-path.ts';
import { openServingStore, type ServingStore } from './store.ts';
import { createServingSurface, type ServingStage, type ServingSurface } from './surface.ts';
import { createUpkeep, type Upkeep } from './upkeep.ts';

export type ServingParts = {
  readonly base: Base;
  readonly store: ServingStore;
  readonly path: RequestPath;
  readonly upkeep: Upkeep;
  readonly surface: ServingSurface;
  readonly stage: ServingStage;
};

/** Throws as `openServingStore` does. */
export async function createServingParts(
  inputs: Inputs,
  config: ServingConfig,
): Promise<ServingParts> {
  const base = createBase(inputs.clock, config);
  try {
    const first = inputs.loadedCatalog();
    const file = createCatalogFile(inputs);
    const live = createLiveCatalog({ first, read: file.read, clock: base.clock });
    const usdPerMillion = () => live.current().usdPerMillion;
    const store = await openServingStore({ base, usdPerMillion });
    const path = await createRequestPath({ base, store, catalog: { file, live } });
    const archives = archiveDirectory(config, inputs.directory);
    const upkeep = createUpkeep({ base, store, path, archives });
    const stage: ServingStage = { listeners: undefined, isLeaving: false, isDraining: false };
    const surface = createServingSurface({ base, store, path, upkeep, stage });
    return { base, store, path, upkeep, surface, stage };
  } catch (error) {
    await base.observation.log.close();
    throw error;
  }
}
