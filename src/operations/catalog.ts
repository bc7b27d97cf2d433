// The catalog of a running server as operators ask for it: what is wrong with a text of one, and that
// it be read again. Called by the command line and by the console.

import type { LoadedCatalog } from '../catalog/live.ts';
import { writeReloadRequest } from '../catalog/notes.ts';
import { CatalogError } from '../catalog/source.ts';
import { createId } from '../core/id.ts';
import { auditChange, type Change } from './change.ts';

export type CatalogCheck =
  | {
      readonly ok: true;
      readonly path: string | null;
      readonly digest: string;
      readonly models: number;
      readonly upstreams: number;
      readonly plans: number;
      readonly problems: readonly string[];
    }
  | { readonly ok: false; readonly problems: readonly string[] };

/** All that is wrong with a catalog; changes nothing. `load` throws `CatalogError` where it is refused. */
export function checkCatalog(load: () => LoadedCatalog): CatalogCheck {
  try {
    const { path, digest, catalog } = load();
    return {
      ok: true,
      path: path ?? null,
      digest,
      models: catalog.models.length,
      upstreams: catalog.upstreams.size,
      plans: catalog.plans.size,
      problems: [],
    };
  } catch (error) {
    if (error instanceof CatalogError) return { ok: false, problems: error.problems };
    throw error;
  }
}

/** Asks the server that runs on this database to read its catalog again; answers the request's id. */
export async function requestReload(change: Change): Promise<string> {
  const { database, clock, randomBytes } = change;
  const id = createId('op_', randomBytes);
  await database.transaction(async () => {
    await writeReloadRequest(database, id, clock());
    await auditChange(change, 'catalog.reload_requested', 'catalog');
  });
  return id;
}
