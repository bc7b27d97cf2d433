// The catalog file as the console's pages show it: whether it can be written, and whether the server
// uses it.

import { catalogDigest } from '../../catalog/live.ts';
import { CatalogError } from '../../catalog/source.ts';
import { say } from '../../core/sentence.ts';
import { whyNotWritable } from '../../operations/publish-catalog.ts';
import type { MachineDependencies } from '../dependencies.ts';

export function catalogFileRecord({
  machine,
  catalogStatus,
}: Pick<MachineDependencies, 'machine' | 'catalogStatus'>) {
  try {
    const found = machine.findCatalog();
    const digest = catalogDigest(found.text);
    return {
      path: found.path ?? null,
      /** A draft is based on it. Null if the file is unreadable. */
      digest,
      in_force: digest === catalogStatus().digest,
      /** The reason publishing is not possible; null if it is. */
      not_writable: whyNotWritable(found) ?? null,
    };
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error;
    const [reason = say('The catalog cannot be read.')] = error.problems;
    return { path: null, digest: null, in_force: false, not_writable: reason };
  }
}

/** Makes the server take up the published file at once. */
export async function takeUp<Published extends { readonly digest: string }>(
  { reloadCatalog }: Pick<MachineDependencies, 'reloadCatalog'>,
  published: Published,
) {
  const { digest, refused } = await reloadCatalog();
  return {
    ...published,
    /** Whether the server uses it now; otherwise `problems` has the reasons. */
    in_force: digest === published.digest,
    problems: refused?.problems ?? [],
  };
}
