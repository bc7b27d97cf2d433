// The catalog of a running server: one immutable snapshot that a reload swaps as a whole, or leaves
// where it is when the new one is invalid. It does no input and output: what reads the file is
// handed in. Requests never ask it; they have the snapshot that they began with.

import { hash } from 'node:crypto';
import type { Catalog } from '../core/model.ts';
import { loadCatalog } from './catalog.ts';
import { CatalogError, type FoundCatalog } from './source.ts';

export type LoadedCatalog = Pick<FoundCatalog, 'origin' | 'path'> & {
  readonly catalog: Catalog;
  /** SHA-256 of the file's text, as `sha256sum` prints it. */
  readonly digest: string;
};

export type CatalogStatus = Pick<LoadedCatalog, 'origin' | 'path' | 'digest'> & {
  /** 1 at the start, and one more with each that is taken up. */
  readonly version: number;
  /** Unix milliseconds. */
  readonly loadedAt: number;
  /** The last attempt, where it was refused; gone with the next that is accepted. */
  readonly refused?: { readonly at: number; readonly problems: readonly string[] };
};

export type LiveCatalog = ReturnType<typeof createLiveCatalog>;

/** Turns what was found into a snapshot. Throws `CatalogError`. */
export function loadFound(found: FoundCatalog, nowMs: number): LoadedCatalog {
  const { origin, path, text } = found;
  return {
    origin,
    ...(path === undefined ? {} : { path }),
    catalog: loadCatalog({ ...found, nowMs }),
    digest: catalogDigest(text),
  };
}

export function catalogDigest(text: string): string {
  return hash('sha256', text, 'hex');
}

export function createLiveCatalog(dependencies: {
  readonly first: LoadedCatalog;
  /** Reads file and secrets anew. Throws `CatalogError`. */
  readonly read: () => LoadedCatalog;
  /** Unix milliseconds. */
  readonly clock: () => number;
}) {
  const { read, clock } = dependencies;
  let loaded = dependencies.first;
  let status = statusOf(loaded, 1, clock());

  return {
    current: () => loaded.catalog,
    status: () => status,
    /** Swaps the snapshot, or keeps it and says why: the status has it. Never throws `CatalogError`. */
    reload(): CatalogStatus {
      try {
        const next = read();
        requireFile(loaded, next);
        loaded = next;
        status = statusOf(next, status.version + 1, clock());
      } catch (error) {
        if (!(error instanceof CatalogError)) throw error;
        status = Object.freeze({
          ...status,
          refused: Object.freeze({ at: clock(), problems: error.problems }),
        });
      }
      return status;
    },
  };
}

function statusOf(loaded: LoadedCatalog, version: number, loadedAt: number): CatalogStatus {
  const { catalog: _, ...facts } = loaded;
  return Object.freeze({ ...facts, version, loadedAt });
}

/** A file that is gone must not turn a shop into a demonstration. */
function requireFile(loaded: LoadedCatalog, next: LoadedCatalog): void {
  if (loaded.origin === 'built-in' || next.origin === 'file') return;
  throw new CatalogError([`${loaded.path} no longer exists. Put it back, or restart the server.`]);
}
