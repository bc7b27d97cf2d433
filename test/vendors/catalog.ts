// The catalog of the matrix, as an operator writes it: an upstream names its vendor, and a model names
// its upstream.

import { catalogOf, LARGE_PLAN, UPSTREAM_KEY } from '../support/catalog.ts';
import type { Row } from './rows.ts';

/** Prices with digits of their own, so that no two counts can be mistaken for each other. */
export const PRICE = {
  input: '1.0000003',
  cached_input: '0.1370001',
  cache_write: '1.7100007',
  output: '7.9300009',
} as const;

/** The slug of the plan. */
export const PLAN = 'vendors';

/** The text of the catalog. `siteOf` gives a vendor's origin. */
export function catalogOfRows(rows: readonly Row[], siteOf: (site: string) => string): string {
  const byUpstream = new Map(rows.map((row) => [row.upstream, row]));
  const upstreams = [...byUpstream.values()].map(({ upstream, site, path, profile }) => ({
    id: upstream,
    base_url: `${siteOf(site)}${path}`,
    api_key: UPSTREAM_KEY,
    profile,
    // Cells that fail must not cost the others of the vendor their turn.
    cool_down_seconds: 0,
  }));
  const models = rows.map(({ id, upstream, model, vision }) => ({
    slug: id,
    context_window: 1_000_000,
    max_output: 64_000,
    features: ['tools', 'json', 'reasoning', ...(vision ? ['vision'] : [])],
    price: PRICE,
    served_by: [{ upstream, model }],
  }));
  return catalogOf({ upstreams, models, plans: { [PLAN]: LARGE_PLAN } });
}
