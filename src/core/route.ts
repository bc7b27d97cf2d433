// Who may serve a request, best first: the places that run the requested model, then those that run
// its fallback models, as far as the account's plan, the size and the kind of the request allow.
// Called by the pipeline once a request; who of them is asked is decided as it goes.

import type { Affinity } from './conversation.ts';
import type { GenerationRequest } from './generation.ts';
import type {
  Catalog,
  Model,
  ModelFeature,
  Placement,
  Upstream,
  UpstreamTimeouts,
} from './model.ts';
import type { Tokens } from './money.ts';
import { type Plan, planIncludes } from './plan.ts';
import type { Price } from './price.ts';
import { priceAt } from './price-book.ts';

/** One possible attempt. `fallback` is true when another model than the requested one serves. */
export type Candidate = {
  readonly model: Model;
  readonly upstream: Upstream;
  readonly upstreamModel: string;
  /** The bound on generated tokens that it is told. */
  readonly maxOutputTokens: number;
  /** The model's when the request started. */
  readonly price: Price;
  readonly timeouts: UpstreamTimeouts;
  /** What the upstream asks the operator for a token; absent where nobody said. */
  readonly cost?: Price | undefined;
  readonly fallback: boolean;
  /** Ranks the credentials of the upstream, for a request of a conversation. */
  readonly affinity?: Affinity | undefined;
};

/** What the choice depends on. The requested model has been found to fit. */
export type RouteFacts = {
  readonly catalog: Catalog;
  /** Whether the operator has taken an upstream out of service for a model's slug. */
  readonly isDisabled: (upstream: string, modelSlug: string) => boolean;
  readonly model: Model;
  readonly plan: Plan;
  readonly request: GenerationRequest;
  /** The conversation's; absent where the request belongs to none. */
  readonly affinity?: Affinity | undefined;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** Estimated. */
  readonly promptTokens: Tokens;
  /** What the requested model may generate. */
  readonly outputBound: Tokens;
};

/**
 * The requested model's placements, drawn by weight, then those of its fallback models in their
 * order, each at the price of `startedAt`. What is out of service is not among them. `random`
 * returns numbers in [0, 1); a conversation does not draw, it keeps to its order.
 */
export function candidates(facts: RouteFacts, random: () => number): Candidate[] {
  const { catalog, model, plan } = facts;
  const all: Candidate[] = [];
  addPlacements(all, model, facts.outputBound, facts, random);
  if (model.fallbacks.length === 0) return all;
  const features = featuresNeeded(facts.request);
  for (const slug of model.fallbacks) {
    const fallback = catalog.resolve(slug);
    if (fallback === undefined || !planIncludes(plan, fallback.slug)) continue;
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
  { catalog, isDisabled, model, affinity, startedAt }: RouteFacts,
  random: () => number,
): void {
  const price = priceAt(of.prices, startedAt);
  const inService = placementsInService(of, isDisabled);
  const ordered =
    affinity === undefined ? drawByWeight(inService, random) : rank(inService, affinity);
  for (const { upstream: id, model: upstreamModel, timeouts, cost } of ordered) {
    const upstream = catalog.upstreams.get(id);
    if (upstream === undefined) continue;
    const fallback = of !== model;
    all.push({
      model: of,
      upstream,
      upstreamModel,
      maxOutputTokens,
      price,
      timeouts,
      cost,
      fallback,
      affinity,
    });
  }
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
 * What a model must be able to do to take the place of another one. The requested model itself is
 * asked as the caller wanted: what it cannot do, its upstream says.
 *
 * Effort alone asks for nothing here: models without reasoning ignore it. But
 * a tool round that such a model has written has no thinking in it, and the requested model would
 * refuse to go on from there. So who wants thinking and has tools needs a model that thinks.
 */
function featuresNeeded({ tools, turns, json, reasoning }: GenerationRequest): ModelFeature[] {
  const features: ModelFeature[] = [];
  const usesTools = tools.length > 0 || turns.some(({ role }) => role === 'tool');
  if (usesTools) features.push('tools');
  if (json) features.push('json');
  const hasImages = turns.some(
    (turn) => turn.role === 'user' && turn.parts.some(({ kind }) => kind === 'image'),
  );
  if (hasImages) features.push('vision');
  const thinks = reasoning !== undefined && reasoning !== 'off';
  if (thinks && usesTools) features.push('reasoning');
  return features;
}

/**
 * The output bound of a fallback, or undefined where the request does not fit. A bound above what it
 * can make is lowered to that, and one that no caller has asked for to what its window leaves.
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
 * Weighted rendezvous hashing: over many conversations each placement is first as often as its weight
 * says, and one that comes or goes moves no conversation but its own.
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
