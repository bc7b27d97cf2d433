// The catalog of a running server: one immutable snapshot, replaced as a whole by a valid reload
// and kept after an invalid one. Reads no file but the logo: the function that reads the catalog is
// passed in. Requests use the snapshot with which they began.

import { hash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Catalog } from '../core/model.ts';
import { type Sentence, say } from '../core/sentence.ts';
import type { Logo, LogoType } from '../core/service.ts';
import { loadCatalog } from './catalog.ts';
import { CatalogError, type FoundCatalog, inFile } from './source.ts';

export type LoadedCatalog = Pick<FoundCatalog, 'origin' | 'path'> & {
  readonly catalog: Catalog;
  /** SHA-256 of the file's text, as `sha256sum` prints it. */
  readonly digest: string;
};

export type CatalogStatus = Pick<LoadedCatalog, 'origin' | 'path' | 'digest'> & {
  /** 1 at the start, incremented by each accepted reload. */
  readonly version: number;
  /** Unix milliseconds. */
  readonly loadedAt: number;
  /** The last reload, if it was refused; cleared by the next accepted one. */
  readonly refused?: { readonly at: number; readonly problems: readonly Sentence[] };
};

export type LiveCatalog = ReturnType<typeof createLiveCatalog>;

/** Parses a catalog into a snapshot. Throws `CatalogError`. */
export function loadFound(found: FoundCatalog, nowMs: number): LoadedCatalog {
  const { origin, path, text } = found;
  return {
    origin,
    ...(path === undefined ? {} : { path }),
    catalog: loadCatalog({ ...found, nowMs, readLogo: (file) => logoOf(found, file) }),
    digest: catalogDigest(text),
  };
}

/** A node that follows another one's catalog may lack its logo, and serves without it. */
function logoOf({ path, isFollowed }: FoundCatalog, file: string): Logo | undefined {
  if (path === undefined) return undefined;
  try {
    return readLogo(path, file);
  } catch (error) {
    if (isFollowed === true && error instanceof CatalogError) return undefined;
    throw error;
  }
}

export function catalogDigest(text: string): string {
  return hash('sha256', text, 'hex');
}

export function createLiveCatalog(dependencies: {
  readonly first: LoadedCatalog;
  /** Reads file and secrets again. Throws `CatalogError`. */
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
    /**
     * Replaces the snapshot, or keeps it and reports why in the status. Never throws
     * `CatalogError`.
     */
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

/** A missing file must not replace a production catalog with the demo. */
function requireFile(loaded: LoadedCatalog, next: LoadedCatalog): void {
  if (loaded.origin === 'built-in' || next.origin === 'file') return;
  throw new CatalogError([
    say('{path} no longer exists. Put it back, or restart the server.', {
      path: loaded.path ?? '',
    }),
  ]);
}

// A logo is checked by its content, because browsers trust neither its size nor its name, and customers
// see the result.

/** A larger logo delays the first page of every visitor. */
const LOGO_BYTES_MAX = 262_144;

const EXTENSIONS: Readonly<Record<LogoType, string>> = {
  'image/svg+xml': 'svg',
  'image/png': 'png',
  'image/webp': 'webp',
};

/** Throws `CatalogError` for a file that is missing, too large, or not what its name says. */
function readLogo(catalogPath: string, file: string): Logo {
  const path = join(dirname(catalogPath), file);
  const refused = (text: Sentence) =>
    new CatalogError([inFile(basename(catalogPath), { path: 'service.logo', text })]);
  const bytes = read(path, refused);
  const type = typeOf(bytes);
  if (type === undefined || !path.endsWith(`.${EXTENSIONS[type]}`)) {
    throw refused(say('must be an SVG, PNG or WebP image with the extension of its kind'));
  }
  return { path, name: `logo-${Bun.hash(bytes).toString(36)}.${EXTENSIONS[type]}`, type, bytes };
}

function read(path: string, refused: (text: Sentence) => CatalogError): Uint8Array<ArrayBuffer> {
  try {
    const { size } = statSync(path);
    if (size <= LOGO_BYTES_MAX) return new Uint8Array(readFileSync(path));
  } catch {
    throw refused(say('names a file that cannot be read; put it beside the catalog'));
  }
  throw refused(say('must be a file of at most {count} bytes', { count: LOGO_BYTES_MAX }));
}

function typeOf(bytes: Uint8Array): LogoType | undefined {
  const start = Buffer.from(bytes.subarray(0, 1_024)).toString('latin1');
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (start.startsWith('RIFF') && start.startsWith('WEBP', 8)) return 'image/webp';
  // Comments end at their first end: a pattern that tries the others takes years.
  return /^(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->)[\s\S])*-->\s*)*<svg[\s>]/.test(
    start,
  )
    ? 'image/svg+xml'
    : undefined;
}
