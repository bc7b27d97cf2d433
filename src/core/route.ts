// Lists the candidates for a request, best first: the placements of the requested model, then those
// of its fallbacks, as far as the account's plan and the request's size and features allow. Called
// once per request; which of them are called is decided later.

import { type Affinity, hasImages } from './conversation.ts';
import type { GenerationRequest } from './generation.ts';
import type { Model, ModelFeature, Placement, Upstream, UpstreamTimeouts } from './model.ts';
import type { Tokens } from './money.ts';
import { type Plan, planIncludes } from './plan.ts';
import { isDearer, type Price } from './price.ts';
import { priceAt } from './price-book.ts';
import type { UpstreamProfile } from './profile.ts';
import type { ServiceState } from './service-state.ts';

/**
 * Whether another model than the requested one serves, and whether it may cost more for this prompt.
 */
export type FallbackKind = 'none' | 'no_dearer' | 'dearer';

/** One possible attempt. */
export type Candidate = {
  readonly model: Model;
  readonly upstream: Upstream;
  readonly upstreamModel: string;
  readonly profile: UpstreamProfile;
  /** The bound on generated tokens that is sent to the upstream. */
  readonly maxOutputTokens: number;
  /** The model's price when the request started. */
  readonly price: Price;
  readonly timeouts: UpstreamTimeouts;
  /** The upstream's price per token for the operator; absent if not configured. */
  readonly cost?: Price | undefined;
  readonly fallback: FallbackKind;
  /** Ranks the upstream's credentials for a request of a conversation. */
  readonly affinity?: Affinity | undefined;
};

/** The inputs of the choice. The request is known to fit the requested model. */
export type RouteFacts = Pick<ServiceState, 'catalog' | 'isDisabled' | 'incidentOf'> & {
  readonly model: Model;
  readonly plan: Plan;
  /** The models of the request's key, by slug; absent: any. */
  readonly allowed?: ReadonlySet<string> | undefined;
  readonly request: GenerationRequest;
  /** The conversation's; absent if the request belongs to none. */
  readonly affinity?: Affinity | undefined;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** The estimate of the prompt. */
  readonly promptTokens: Tokens;
  /** The output bound of the requested model. */
  readonly outputBound: Tokens;
};

/**
 * The requested model's placements, drawn by weight, then those of its fallbacks in order, each at
 * the price of `startedAt`. Leaves out disabled placements and fallbacks in a capacity incident.
 * `random` returns numbers in [0, 1); a conversation keeps its fixed order instead of drawing.
 */
export function candidates(facts: RouteFacts, random: () => number): Candidate[] {
  const { catalog, model, plan } = facts;
  const all: Candidate[] = [];
  addPlacements(all, model, facts.outputBound, facts, random);
  if (model.fallbacks.length === 0) return all;
  const features = featuresNeeded(facts);
  for (const slug of model.fallbacks) {
    const fallback = catalog.resolve(slug);
    if (fallback === undefined || !planIncludes(plan, fallback.slug)) continue;
    if (facts.allowed?.has(fallback.slug) === false) continue;
    // Its capacity is short, and the limits of an incident are not counted for a fallback.
    if (fallback.incidentLimits ?? facts.incidentOf(fallback.slug)) continue;
    if (!features.every((feature) => fallback.features.has(feature))) continue;
    const bound = boundOf(fallback, facts);
    if (bound !== undefined) addPlacements(all, fallback, bound, facts, random);
  }
  return all;
}

function addPlacements(
  all: Candidate[],
  of: Model,
  maxOutputTokens: number,
  facts: RouteFacts,
  random: () => number,
): void {
  const { catalog, isDisabled, affinity, startedAt } = facts;
  const price = priceAt(of.prices, startedAt);
  const fallback = fallbackKind(of, price, facts);
  const inService = placementsInService(of, isDisabled);
  const ordered =
    affinity === undefined ? drawByWeight(inService, random) : rank(inService, affinity);
  for (const { upstream: id, model: upstreamModel, profile, timeouts, cost } of ordered) {
    const upstream = catalog.upstreams.get(id);
    if (upstream === undefined) continue;
    all.push({
      model: of,
      upstream,
      upstreamModel,
      profile,
      maxOutputTokens,
      price,
      timeouts,
      cost,
      fallback,
      affinity,
    });
  }
}

function fallbackKind(
  of: Model,
  price: Price,
  { model, startedAt, promptTokens }: RouteFacts,
): FallbackKind {
  if (of === model) return 'none';
  const requested = priceAt(model.prices, startedAt);
  return isDearer(price, requested, promptTokens) ? 'dearer' : 'no_dearer';
}

function placementsInService(
  { servedBy, slug }: Model,
  isDisabled: RouteFacts['isDisabled'],
): readonly Placement[] {
  for (const { upstream } of servedBy) {
    if (isDisabled(upstream, slug))
      return servedBy.filter((each) => !isDisabled(each.upstream, slug));
  }
  return servedBy;
}

/**
 * The features that a fallback needs. The requested model itself is called regardless; its upstream
 * reports what it cannot do.
 *
 * Effort alone requires nothing: models without reasoning ignore it. But a tool round written by
 * such a model contains no thinking, and a requested model that reasons would then refuse to
 * continue. So a request with thinking and tools to such a model needs a fallback that reasons.
 */
function featuresNeeded({ model, request }: RouteFacts): ModelFeature[] {
  const { tools, turns, json, reasoning } = request;
  const features: ModelFeature[] = [];
  const usesTools = tools.length > 0 || turns.some(({ role }) => role === 'tool');
  if (usesTools) features.push('tools');
  if (json) features.push('json');
  if (hasImages(turns)) features.push('vision');
  const isAsked = reasoning !== undefined && reasoning !== 'off';
  if (isAsked && usesTools && model.features.has('reasoning')) features.push('reasoning');
  return features;
}

/**
 * The output bound of a fallback, or undefined if the request does not fit. A bound above the
 * model's maximum is lowered to it, and a default bound to what the context window leaves.
 */
function boundOf(
  fallback: Model,
  { plan, request, promptTokens, outputBound }: RouteFacts,
): number | undefined {
  const room = Math.min(fallback.contextWindow, plan.maxContext) - promptTokens;
  const bound = Math.min(outputBound, fallback.maxOutput);
  if (room <= 0) return undefined;
  if (request.maxOutputTokens === undefined) return Math.min(bound, room);
  return bound <= room ? bound : undefined;
}

function drawByWeight(all: readonly Placement[], random: () => number): readonly Placement[] {
  if (all.length < 2) return all;
  const left = [...all];
  const drawn: Placement[] = [];
  while (left.length > 0) {
    const total = left.reduce((sum, placement) => sum + placement.weight, 0);
    let point = random() * total;
    let index = 0;
    while (index < left.length - 1 && point >= (left[index]?.weight ?? 0)) {
      point -= left[index]?.weight ?? 0;
      index += 1;
    }
    drawn.push(...left.splice(index, 1));
  }
  return drawn;
}

/**
 * Weighted rendezvous hashing: over many conversations, each placement is first in proportion to
 * its weight, and adding or removing one moves only its own conversations.
 */
function rank(all: readonly Placement[], affinity: Affinity): readonly Placement[] {
  if (all.length < 2) return all;
  return all
    .map((placement) => {
      const fraction = affinity(`${placement.upstream} ${placement.model}`);
      return { placement, score: -Math.log(fraction) / placement.weight };
    })
    .toSorted((one, other) => one.score - other.score)
    .map(({ placement }) => placement);
}
