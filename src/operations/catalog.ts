// Operations on the catalog of a running server: checks a text, requests a reload, and publishes to
// all nodes of a cluster. Called by the command line, the console, and nodes whose file has
// changed.

import { and, eq } from 'drizzle-orm';
import { catalogDigest, type LoadedCatalog } from '../catalog/live.ts';
import { readSharedCatalog, writeReloadRequest, writeSharedCatalog } from '../catalog/notes.ts';
import { priceWarnings } from '../catalog/price-warnings.ts';
import { chosenProfiles, profileWarnings } from '../catalog/profile-notes.ts';
import { CatalogError, type FoundCatalog } from '../catalog/source.ts';
import { createId } from '../core/id.ts';
import type { Catalog } from '../core/model.ts';
import { type Sentence, wordsOf } from '../core/sentence.ts';
import { type AuditAction, auditChange, type Change } from '../identity/audit.ts';
import type { Database } from '../store/contract.ts';
import { auditEvents } from '../store/tables.ts';

const PUBLISHED: AuditAction = 'catalog.published';

/**
 * Lists all problems of a catalog; changes nothing. `load` throws `CatalogError` where it is
 * refused.
 */
export function checkCatalog(load: () => LoadedCatalog, nowMs: number) {
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
      warnings: catalogWarnings(catalog, nowMs),
      profiles: chosenProfiles(catalog),
    } as const;
  } catch (error) {
    if (error instanceof CatalogError) return { ok: false, problems: error.problems } as const;
    throw error;
  }
}

/** What an operator should know of a valid catalog. */
export function catalogWarnings(catalog: Catalog, nowMs: number): Sentence[] {
  return [...priceWarnings(catalog, nowMs), ...profileWarnings(catalog)];
}

/** `checkCatalog` for the command line. */
export function checkInEnglish(load: () => LoadedCatalog, nowMs: number) {
  const checked = checkCatalog(load, nowMs);
  const problems = checked.problems.map(wordsOf);
  if (!checked.ok) return { ...checked, problems };
  return { ...checked, problems, warnings: checked.warnings.map(wordsOf) };
}

/** `null` where it cannot be read. */
export function digestOnDisk(find: () => FoundCatalog): string | null {
  try {
    return catalogDigest(find().text);
  } catch (error) {
    if (error instanceof CatalogError) return null;
    throw error;
  }
}

/**
 * Publishes a text to all nodes of a cluster, which apply it within a second. Does nothing where it
 * is already published. Call inside a transaction.
 */
export async function publishCatalog(change: Change, text: string): Promise<void> {
  const { database, clock } = change;
  const digest = catalogDigest(text);
  if ((await readSharedCatalog(database))?.digest === digest) return;
  await writeSharedCatalog(database, text, clock());
  await auditChange(change, PUBLISHED, digest);
}

/** Whether the cluster has ever used this text, so that a file with it may be outdated. */
export async function wasPublished({ db }: Database, digest: string): Promise<boolean> {
  const { id, action, subject } = auditEvents;
  const isIt = and(eq(action, PUBLISHED), eq(subject, digest));
  return (await db.select({ id }).from(auditEvents).where(isIt).limit(1).get()) !== undefined;
}

/**
 * Asks the servers on this database to read catalog and secrets again; returns the id of the
 * request. `text` is published to all nodes of a cluster.
 */
export async function requestReload(change: Change, text?: string): Promise<string> {
  const { database, clock, randomBytes } = change;
  const id = createId('op_', randomBytes);
  await database.transaction(async () => {
    if (text !== undefined) await publishCatalog(change, text);
    await writeReloadRequest(database, id, clock());
    await auditChange(change, 'catalog.reload_requested', 'catalog');
  });
  return id;
}
