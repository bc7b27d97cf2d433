// Takes an upstream, or one of its models, out of service and back, resets its failure state, and
// finds what a test asks.
// Called by the command line and the console. Running requests continue.

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
import { DEMO_PROFILE, type UpstreamProfile } from '../core/profile.ts';
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
 * The candidates of a test: of all upstreams or one, of all models or one, which is a slug, an alias
 * or the upstream's own name. A name that the catalog does not have at the upstream stands for a
 * model without features. Throws `upstream_not_found` and `model_not_found`.
 */
export function trialCandidates(
  catalog: Catalog,
  { upstream: id, model: name }: { readonly [Name in keyof Place]?: string | undefined },
  nowMs: number,
): readonly Candidate[] {
  const upstream = id === undefined ? undefined : catalog.upstreams.get(id);
  if (id !== undefined && upstream === undefined) throw upstreamNotFound();
  const placed = catalog.models.flatMap((model) =>
    model.servedBy.flatMap((place) => {
      const at = catalog.upstreams.get(place.upstream);
      const isMeant = at !== undefined && (upstream === undefined || at === upstream);
      return isMeant ? [trialCandidate(model, at, place, nowMs)] : [];
    }),
  );
  if (name === undefined) return placed;
  const slug = catalog.resolve(name)?.slug;
  const named = placed.filter(
    ({ model, upstreamModel }) => model.slug === slug || upstreamModel === name,
  );
  if (named.length > 0) return named;
  const [like] = catalog.models;
  if (upstream === undefined || like === undefined) throw modelNotFound();
  const profile = placed[0]?.profile ?? ownProfile(upstream);
  const { timeouts } = upstream;
  const unknown = { ...like, slug: name, features: new Set<ModelFeature>() };
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

function ownProfile(upstream: Upstream): UpstreamProfile {
  return upstream.dialect === 'demo' ? DEMO_PROFILE : upstream.profile;
}

function findPlace(catalog: Catalog, { upstream, model }: Place): Place {
  if (!catalog.upstreams.has(upstream)) throw upstreamNotFound();
  if (model === undefined) return { upstream };
  const slug = catalog.resolve(model)?.slug;
  if (slug !== undefined && isKnown(catalog, { upstream, model: slug })) {
    return { upstream, model: slug };
  }
  throw modelNotFound();
}

function upstreamNotFound(): OperationError {
  return new OperationError(
    'upstream_not_found',
    'There is no upstream with this id in the catalog; tollgate upstream list has them.',
  );
}

function modelNotFound(): OperationError {
  return new OperationError(
    'model_not_found',
    'This upstream does not serve a model with this slug or alias; tollgate upstream list has those that it serves.',
  );
}
