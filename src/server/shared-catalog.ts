// Keeps one catalog across the nodes of a cluster: a node publishes changes of its file and follows
// what other nodes publish. PostgreSQL only; service-changes.ts calls it.

import { catalogDigest } from '../catalog/live.ts';
import { readSharedCatalog } from '../catalog/notes.ts';
import type { Change } from '../identity/audit.ts';
import { publishCatalog, wasPublished } from '../operations/catalog.ts';
import type { CatalogFile } from './catalog-file.ts';

export type SharedCatalog = {
  /**
   * Call it at the start, after the file was read. Whether to read the catalog again because the
   * other nodes use another one: a file that was never published is new, an earlier one is not.
   */
  readonly join: () => Promise<boolean>;
  /** Call it after the catalog was applied. Publishes it unless all nodes use it already. */
  readonly offer: () => Promise<void>;
  /** Whether to read the catalog again because another node has published one. */
  readonly follow: () => Promise<boolean>;
  /** Makes the next read use the file, although it has not changed. */
  readonly insist: () => void;
};

export type SharedCatalogOptions = {
  readonly change: Change;
  readonly file: Pick<CatalogFile, 'latest' | 'follow' | 'insist'>;
  /** Whether another node is serving. */
  readonly isAnybodyElse: () => boolean;
};

export function createSharedCatalog(options: SharedCatalogOptions): SharedCatalog {
  const { change, file, isAnybodyElse } = options;
  const { database } = change;
  /** The digest of the published text that this node last applied or refused. */
  let known: string | undefined;
  let isOffered = true;

  async function offer(): Promise<void> {
    const { origin, text } = file.latest();
    const digest = catalogDigest(text);
    // The built-in demonstration catalog is never shared.
    if (origin === 'built-in' || digest === known) return;
    isOffered = false;
    await database.transaction(() => publishCatalog(change, text));
    known = digest;
    isOffered = true;
  }

  async function follow(): Promise<boolean> {
    // A failed publication comes before any other change.
    if (!isOffered) await offer();
    const shared = await readSharedCatalog(database);
    if (shared === undefined || shared.digest === known) return false;
    known = shared.digest;
    file.follow(shared.text);
    return true;
  }

  return {
    offer,
    follow,
    insist: file.insist,
    async join() {
      const shared = await readSharedCatalog(database);
      const { origin, text } = file.latest();
      const digest = catalogDigest(text);
      if (shared?.digest === digest) {
        known = digest;
        return false;
      }
      const isOld =
        shared !== undefined &&
        (origin === 'built-in' || (isAnybodyElse() && (await wasPublished(database, digest))));
      if (isOld) return follow();
      await offer();
      return false;
    },
  };
}
