// Who may serve a request, best first.

import type { Catalog, Model, Placement, Upstream, UpstreamTimeouts } from './model.ts';
import { type Plan, planIncludes } from './plan.ts';
import type { Price } from './price.ts';
import { priceAt } from './price-book.ts';

/** One possible attempt. `fallback` is true when another model than the requested one serves. */
export type Candidate = {
  readonly model: Model;
  readonly upstream: Upstream;
  readonly upstreamModel: string;
  /** The model's when the request started. */
  readonly price: Price;
  readonly timeouts: UpstreamTimeouts;
  /** What the upstream asks the operator for a token; absent where nobody said. */
  readonly cost?: Price;
  readonly fallback: boolean;
};

/**
 * The requested model's placements, drawn by weight, then those of its fallback models as far as
 * the plan includes them, each at the price of `startedAt`. `random` returns numbers in [0, 1).
 */
export function candidates(
  catalog: Catalog,
  model: Model,
  plan: Plan,
  startedAt: number,
  random: () => number,
): Candidate[] {
  const placements = (of: Model, fallback: boolean): Candidate[] => {
    const price = priceAt(of.prices, startedAt);
    return drawByWeight(of.servedBy, random).flatMap((placement) => {
      const upstream = catalog.upstreams.get(placement.upstream);
      if (upstream === undefined) return [];
      const { model: upstreamModel, timeouts, cost } = placement;
      const paid = cost === undefined ? {} : { cost };
      return [{ model: of, upstream, upstreamModel, price, timeouts, ...paid, fallback }];
    });
  };
  const own = placements(model, false);
  const rest = model.fallbacks.flatMap((slug) => {
    const fallback = catalog.resolve(slug);
    if (fallback === undefined || !planIncludes(plan, fallback.slug)) return [];
    return placements(fallback, true);
  });
  return [...own, ...rest];
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
