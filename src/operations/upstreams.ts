// Takes an upstream, or one of its models, out of service and back, resets its failure state, and
// finds what a test asks. Called by the command line and the console. Running requests continue.

import {
  type DisabledPlace,
  disable,
  enable,
  listDisabled,
  type Place,
} from '../catalog/disabled.ts';
import { isoTime } from '../core/calendar.ts';
import type { Catalog, Model, ModelFeature, Placement, Upstream } from '../core/model.ts';
import { priceAt } from '../core/price-book.ts';
import { DEMO_PROFILE } from '../core/profile.ts';
import type { Candidate } from '../core/route.ts';
import { auditChange, type Change } from '../identity/audit.ts';
import { OperationError } from './error.ts';

const REASON_LENGTH_MAX = 200;

/**
 * No new request goes there. Throws `upstream_not_found`, `model_not_found` where the upstream does
 * not have the model, and `invalid_reason`.
 */
export async function disablePlace(
  change: Change,
  catalog: Catalog,
  place: Place,
  reason: string,
): Promise<DisabledPlace> {
  const found = findPlace(catalog, place);
  const words = reason.trim();
  if (words.length > REASON_LENGTH_MAX || /[\p{Cc}\p{Zl}\p{Zp}]/u.test(words)) {
    throw new OperationError(
      'invalid_reason',
      `The reason is not valid. It needs to be one line of at most ${REASON_LENGTH_MAX} characters.`,
    );
  }
  const { database } = change;
  const since = change.clock();
  await database.transaction(async () => {
    await auditChange(change, 'upstream.disabled', found.upstream, {
      model: found.model ?? null,
      reason: words,
    });
    await disable(database, found, words, since);
  });
  return { ...found, reason: words, since };
}

/** Accepts a place that the catalog no longer has. `false` where it was in service. */
export async function enablePlace(
  change: Change,
  catalog: Catalog,
  place: Place,
): Promise<boolean> {
  const { database } = change;
  const { upstream, model } = place;
  const slug = model === undefined ? undefined : (catalog.resolve(model)?.slug ?? model);
  const found = slug === undefined ? { upstream } : { upstream, model: slug };
  return database.transaction(async () => {
    const enabled = await enable(database, found);
    if (enabled) await auditChange(change, 'upstream.enabled', upstream, { model: slug ?? null });
    return enabled;
  });
}

/**
 * Resets the circuit breakers and rejected credentials of an upstream on running servers, which
 * then use it at once. The servers read it from the audit trail. Throws `upstream_not_found`.
 */
export async function resetUpstream(
  change: Change,
  catalog: Catalog,
  upstream: string,
): Promise<void> {
  const found = findPlace(catalog, { upstream });
  await change.database.transaction(() => auditChange(change, 'upstream.reset', found.upstream));
}

/** What is out of service; `known` is false where the catalog has no such place. */
export async function disabledPlaces(
  { database }: Pick<Change, 'database'>,
  catalog: Catalog,
): Promise<readonly (DisabledPlace & { readonly known: boolean })[]> {
  return (await listDisabled(database)).map((place) => ({
    ...place,
    known: isKnown(catalog, place),
  }));
}

/** The record of a place that is out of service. */
export function placeRecord({ upstream, model, reason, since }: DisabledPlace) {
  return { upstream, model: model ?? null, reason, since: isoTime(since) } as const;
}

function isKnown(catalog: Catalog, { upstream, model }: Place): boolean {
  if (!catalog.upstreams.has(upstream)) return false;
  if (model === undefined) return true;
  const servedBy = catalog.resolve(model)?.servedBy ?? [];
  return servedBy.some((placement) => placement.upstream === upstream);
}

/**
 * The candidates of a test: of all places, of an upstream, or of a model there, which may be an alias
 * or the upstream's own name. A name that the catalog does not have there stands for a model without
 * features. Throws `upstream_not_found`.
 */
export function trialCandidates(
  catalog: Catalog,
  place: Place | undefined,
  nowMs: number,
): readonly Candidate[] {
  const upstream = place && requireUpstream(catalog, place.upstream);
  const name = place?.model;
  const slug = name === undefined ? undefined : catalog.resolve(name)?.slug;
  const placed = catalog.models.flatMap((model) =>
    model.servedBy.flatMap((placement) => {
      const at = catalog.upstreams.get(placement.upstream);
      if (at === undefined || (upstream ?? at) !== at) return [];
      const isMeant = name === undefined || model.slug === slug || placement.model === name;
      return isMeant ? [trialCandidate(model, at, placement, nowMs)] : [];
    }),
  );
  const [like] = catalog.models;
  if (placed.length > 0 || !upstream || !like || name === undefined) return placed;
  const unknown = { ...like, slug: name, features: new Set<ModelFeature>() };
  const profile = upstream.dialect === 'demo' ? DEMO_PROFILE : upstream.profile;
  const { timeouts } = upstream;
  return [trialCandidate(unknown, upstream, { model: name, profile, timeouts }, nowMs)];
}

function trialCandidate(
  model: Model,
  upstream: Upstream,
  { model: upstreamModel, profile, timeouts }: Pick<Placement, 'model' | 'profile' | 'timeouts'>,
  nowMs: number,
): Candidate {
  const price = priceAt(model.prices, nowMs);
  const names = { model, upstream, upstreamModel, profile };
  return { ...names, maxOutputTokens: model.maxOutput, price, timeouts, fallback: 'none' };
}

function findPlace(catalog: Catalog, { upstream, model }: Place): Place {
  requireUpstream(catalog, upstream);
  if (model === undefined) return { upstream };
  const slug = catalog.resolve(model)?.slug;
  if (slug !== undefined && isKnown(catalog, { upstream, model: slug })) {
    return { upstream, model: slug };
  }
  throw new OperationError(
    'model_not_found',
    'This upstream does not serve a model with this slug or alias; tollgate upstream list has those that it serves.',
  );
}

function requireUpstream(catalog: Catalog, id: string): Upstream {
  const upstream = catalog.upstreams.get(id);
  if (upstream !== undefined) return upstream;
  throw new OperationError(
    'upstream_not_found',
    'There is no upstream with this id in the catalog; tollgate upstream list has them.',
  );
}
