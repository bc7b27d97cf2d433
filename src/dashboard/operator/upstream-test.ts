// Tests an upstream of a drafted catalog: one short generation with each of its keys, outside of the
// running server's health, so that a draft never affects customers.

import type { Catalog, Upstream } from '../../core/model.ts';
import { priceAt } from '../../core/price-book.ts';
import { DEMO_PROFILE, type UpstreamProfile } from '../../core/profile.ts';
import type { Candidate } from '../../core/route.ts';
import { auditChange, type Change } from '../../identity/audit.ts';
import type { Machine } from '../dependencies.ts';
import { notFound } from '../edge/error.ts';
import type { UpstreamTestRecord } from '../records/operator-entries.ts';

/** Keys that are tried at once. */
const KEYS_MAX = 8;

const OUTPUT_TOKENS = 16;

/** `model` is the upstream's name for a model; empty for that of the first placement. */
export async function testUpstream(
  change: Change,
  probe: Machine['probe'],
  catalog: Catalog,
  id: string,
  model: string,
): Promise<UpstreamTestRecord['results']> {
  const upstream = catalog.upstreams.get(id);
  const candidate = upstream && candidateOf(catalog, upstream, model, change.clock());
  if (upstream === undefined || candidate === undefined) throw notFound('upstream');
  const results = await Promise.all(
    upstream.credentials.slice(0, KEYS_MAX).map(async (credential) => {
      const start = performance.now();
      const end = await probe(candidate, credential);
      const failure = end === 'finished' ? undefined : end;
      return {
        credential: credential.id,
        ok: failure === undefined,
        status: failure?.status ?? null,
        detail: failure?.detail ?? null,
        duration_ms: Math.round(performance.now() - start),
      };
    }),
  );
  await change.database.transaction(() =>
    auditChange(change, 'upstream.tested', id, {
      base_url: upstream.dialect === 'demo' ? null : upstream.baseUrl,
      succeeded: results.filter(({ ok }) => ok).length,
      failed: results.filter(({ ok }) => !ok).length,
    }),
  );
  return results;
}

/** The request is the same for each model, so any one of the catalog stands for it. */
function candidateOf(
  catalog: Catalog,
  upstream: Upstream,
  name: string,
  nowMs: number,
): Candidate | undefined {
  const placed = catalog.models.flatMap((model) =>
    model.servedBy.flatMap((place) => (place.upstream === upstream.id ? [{ model, place }] : [])),
  );
  const model = placed[0]?.model ?? catalog.models[0];
  const upstreamModel = name || placed[0]?.place.model;
  if (model === undefined || upstreamModel === undefined) return undefined;
  const same = placed.find(({ place }) => place.model === upstreamModel);
  return {
    model,
    upstream,
    upstreamModel,
    profile: (same ?? placed[0])?.place.profile ?? ownProfile(upstream),
    maxOutputTokens: OUTPUT_TOKENS,
    price: priceAt(model.prices, nowMs),
    timeouts: upstream.timeouts,
    fallback: 'none',
  };
}

function ownProfile(upstream: Upstream): UpstreamProfile {
  return upstream.dialect === 'demo' ? DEMO_PROFILE : upstream.profile;
}
