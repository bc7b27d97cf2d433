// The catalog of the matrix, as an operator writes it: an upstream names its vendor, and a model names
// its upstream.

import { catalogOf, LARGE_PLAN, UPSTREAM_KEY } from '../support/catalog.ts';
import { FAULTS, faultySlug } from './faults.ts';
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
  const leaders = rows.filter((row) => row.leads);
  const upstreamOf = ({ upstream, site, path, profile }: Row, suffix = '') => ({
    id: `${upstream}${suffix}`,
    base_url: `${siteOf(`${site}${suffix}`)}${path}`,
    api_key: UPSTREAM_KEY,
    profile,
    // Cells that fail must not cost the others of the vendor their turn.
    cool_down_seconds: 0,
  });
  const modelOf = ({ upstream, model, vision }: Row, slug: string, suffix = '') => ({
    slug,
    context_window: 1_000_000,
    max_output: 64_000,
    features: ['tools', 'json', 'reasoning', ...(vision ? ['vision'] : [])],
    price: PRICE,
    served_by: [{ upstream: `${upstream}${suffix}`, model }],
  });
  // A vendor that refuses our credential is not asked again, so each fault has an upstream.
  const faulty = leaders.flatMap((row) => FAULTS.map(({ word }) => ({ row, word })));
  return catalogOf({
    upstreams: [
      ...leaders.map((row) => upstreamOf(row)),
      ...faulty.map(({ row, word }) => upstreamOf(row, `-${word}`)),
    ],
    models: [
      ...rows.map((row) => modelOf(row, row.id)),
      ...faulty.map(({ row, word }) => modelOf(row, faultySlug(row, word), `-${word}`)),
    ],
    plans: { [PLAN]: LARGE_PLAN },
  });
}
