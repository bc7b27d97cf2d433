// How the nodes of a cluster come to sell by one catalog: a node publishes what its file says anew,
// and follows what others publish. Made by serve for PostgreSQL; operators.ts calls it.

import { catalogDigest } from '../catalog/live.ts';
import { readSharedCatalog } from '../catalog/notes.ts';
import type { Change } from '../operations/audited-change.ts';
import { publishCatalog, wasPublished } from '../operations/catalog.ts';
import type { CatalogFile } from './catalog-file.ts';

export type SharedCatalog = {
  /**
   * At the start, after the file was read. Whether the catalog has to be read again, because the
   * others sell by another one: a file that was never published is news, and an earlier one is not.
   */
  readonly join: () => Promise<boolean>;
  /** After the catalog was taken up. Publishes it where it is not what all nodes sell by already. */
  readonly offer: () => Promise<void>;
  /** Whether the catalog has to be read again, because another node has published one. */
  readonly follow: () => Promise<boolean>;
  /** What is read next is the file, although it has not changed. */
  readonly insist: () => void;
};

export type SharedCatalogOptions = {
  readonly change: Change;
  readonly file: Pick<CatalogFile, 'latest' | 'follow' | 'insist'>;
  /** Whether another node serves now. */
  readonly isAnybodyElse: () => boolean;
};

export function createSharedCatalog(options: SharedCatalogOptions): SharedCatalog {
  const { change, file, isAnybodyElse } = options;
  const { database } = change;
  /** The digest of the published text that this node has dealt with last, taken up or refused. */
  let known: string | undefined;
  let isOffered = true;

  async function offer(): Promise<void> {
    const { origin, text } = file.latest();
    const digest = catalogDigest(text);
    // The demonstration is nobody's shop.
    if (origin === 'built-in' || digest === known) return;
    isOffered = false;
    await database.transaction(() => publishCatalog(change, text));
    known = digest;
    isOffered = true;
  }

  async function follow(): Promise<boolean> {
    // What the database could not be told is told before anything else is taken up.
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
