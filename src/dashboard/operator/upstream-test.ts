// Tests an upstream of a drafted catalog: one of its models, with each of its keys, outside of the
// running server's health, so that a draft never affects customers.

import type { Catalog } from '../../core/model.ts';
import { auditChange, type Change } from '../../identity/audit.ts';
import { trialCandidates } from '../../operations/upstreams.ts';
import type { Machine } from '../dependencies.ts';
import { notFound } from '../edge/error.ts';
import type { UpstreamTestRecord } from '../records/operator-entries.ts';

/** `model` is a slug, an alias or the upstream's own name; empty for its first model. */
export async function testUpstream(
  change: Change,
  trial: Machine['trial'],
  catalog: Catalog,
  id: string,
  model: string,
): Promise<UpstreamTestRecord['results']> {
  const place = { upstream: id, model: model || undefined };
  const [candidate] = trialCandidates(catalog, place, change.clock());
  if (candidate === undefined) throw notFound('upstream');
  const results = await trial(candidate);
  const { upstream } = candidate;
  await change.database.transaction(() =>
    auditChange(change, 'upstream.tested', id, {
      base_url: upstream.dialect === 'demo' ? null : upstream.baseUrl,
      succeeded: results.filter(({ ok }) => ok).length,
      failed: results.filter(({ ok }) => !ok).length,
    }),
  );
  return results;
}
