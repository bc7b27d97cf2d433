// Computes what other prices would have charged for past requests. Pure: takes the requests one by
// one and sums, so memory does not depend on their number.

import type { Catalog } from '../core/model.ts';
import { add, formatTokens, type Micro, subtract, ZERO } from '../core/money.ts';
import { chargeServed, type Price } from '../core/price.ts';
import { periodAt, priceAt, priceIn } from '../core/price-book.ts';
import { type ModelFigures, sumModelFigures } from '../ledger/series/models.ts';
import type { UsedRequest } from '../ledger/usage-records.ts';

/** The price of a request's model, by its name in the books; `undefined` where there is none. */
export type PriceOf = (request: UsedRequest, role: 'requested' | 'served') => Price | undefined;

type Sum = {
  requests: number;
  input: number;
  cachedInput: number;
  cacheWrite: number;
  output: number;
  booked: Micro;
  wouldBe: Micro;
  loss: Micro;
};

type Unpriced = { requests: number; booked: Micro };

export type Preview = {
  /** By the requested model, ascending. */
  readonly models: ReadonlyMap<string, Readonly<Sum>>;
  readonly totals: Readonly<Sum>;
  /** Requests in no sum, by the model without a price, ascending. */
  readonly unpriced: ReadonlyMap<string, Readonly<Unpriced>>;
};

/**
 * The cost of a request by the rule that settles it (core/price.ts), or the name of the model
 * without a price. Calls `priceOf` for both models where a fallback served.
 */
export function chargeAgain(request: UsedRequest, priceOf: PriceOf): Micro | string {
  const { modelRequested, modelServed, usage } = request;
  const requested = priceOf(request, 'requested');
  if (requested === undefined) return modelRequested;
  if (modelServed === undefined) return ZERO;
  const served = priceOf(request, 'served');
  if (served === undefined) return modelServed;
  return chargeServed(usage, requested, served);
}

export async function preview(
  requests: AsyncIterable<UsedRequest>,
  priceOf: PriceOf,
): Promise<Preview> {
  const sums = createPreview(priceOf);
  for await (const request of requests) sums.add(request);
  return sums.result();
}

/** The same for callers that pause between requests. */
export function createPreview(priceOf: PriceOf): {
  readonly add: (request: UsedRequest) => void;
  readonly result: () => Preview;
} {
  const models = new Map<string, Sum>();
  const unpriced = new Map<string, Unpriced>();
  const totals = emptySum();
  return {
    add(request) {
      const wouldBe = chargeAgain(request, priceOf);
      if (typeof wouldBe === 'string') {
        const left = unpriced.getOrInsertComputed(wouldBe, () => ({ requests: 0, booked: ZERO }));
        left.requests += 1;
        left.booked = add(left.booked, request.charged);
        return;
      }
      addRequest(models.getOrInsertComputed(request.modelRequested, emptySum), request, wouldBe);
      addRequest(totals, request, wouldBe);
    },
    result: () => ({ models: byName(models), totals, unpriced: byName(unpriced) }),
  };
}

function emptySum(): Sum {
  return {
    requests: 0,
    input: 0,
    cachedInput: 0,
    cacheWrite: 0,
    output: 0,
    booked: ZERO,
    wouldBe: ZERO,
    loss: ZERO,
  };
}

function addRequest(sum: Sum, { usage, charged, loss }: UsedRequest, wouldBe: Micro): void {
  sum.requests += 1;
  sum.input += usage.inputTokens - usage.cachedInputTokens - usage.cacheWriteTokens;
  sum.cachedInput += usage.cachedInputTokens;
  sum.cacheWrite += usage.cacheWriteTokens;
  sum.output += usage.outputTokens;
  sum.booked = add(sum.booked, charged);
  sum.wouldBe = add(sum.wouldBe, wouldBe);
  sum.loss = add(sum.loss, loss);
}

function byName<V>(map: ReadonlyMap<string, V>): ReadonlyMap<string, V> {
  return new Map([...map].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Amounts as decimal strings of service tokens. */
export function previewRecord({ models, totals, unpriced }: Preview) {
  return {
    models: [...models].map(([model, sum]) => ({ model, ...sumRecord(sum) })),
    totals: sumRecord(totals),
    not_priced: [...unpriced].map(([model, { requests, booked }]) => ({
      model,
      requests,
      booked: formatTokens(booked),
    })),
  } as const;
}

/**
 * The draft against the prices that hold without it at the same time: the models that it changes, and
 * all requests. `booked` has the figures of the same requests by requested model.
 */
export function comparisonRecord(
  draft: Preview,
  without: Preview,
  booked: ReadonlyMap<string, ModelFigures>,
) {
  const rows = [...draft.models].map(([model, sum]) => ({
    model,
    ...compare(sum, without.models.get(model)?.wouldBe ?? ZERO, booked.get(model)),
  }));
  const all = sumModelFigures([...booked.values()]);
  return {
    models: rows.filter(({ difference }) => difference !== '0'),
    totals: compare(draft.totals, without.totals.wouldBe, all),
    not_priced: previewRecord(draft).not_priced,
  } as const;
}

/** Margins are null where not every request has a known cost. */
function compare(sum: Readonly<Sum>, without: Micro, booked: ModelFigures | undefined) {
  const isCosted = booked?.uncosted === 0 && booked.requests === sum.requests;
  const marginAt = (revenue: Micro) =>
    isCosted ? formatTokens(add(booked.margin, subtract(revenue, sum.booked))) : null;
  return {
    requests: sum.requests,
    would_be: formatTokens(sum.wouldBe),
    without_draft: formatTokens(without),
    difference: formatTokens(subtract(sum.wouldBe, without)),
    margin: marginAt(sum.wouldBe),
    margin_without_draft: marginAt(without),
  };
}

function sumRecord(sum: Sum) {
  return {
    requests: sum.requests,
    tokens: {
      input: sum.input,
      cached_input: sum.cachedInput,
      cache_write: sum.cacheWrite,
      output: sum.output,
    },
    booked: formatTokens(sum.booked),
    would_be: formatTokens(sum.wouldBe),
    difference: formatTokens(subtract(sum.wouldBe, sum.booked)),
    loss: formatTokens(sum.loss),
  } as const;
}

/**
 * A request costs the price at its start. With `pricesAtMs`, the prices of one period apply to all
 * requests, each by its hour of the day.
 */
export function candidatePrices(candidate: Catalog, pricesAtMs: number | undefined): PriceOf {
  return ({ startedAt, modelRequested, modelServed }, role) => {
    const name = role === 'requested' ? modelRequested : (modelServed ?? modelRequested);
    const prices = candidate.resolve(name)?.prices;
    if (prices === undefined) return undefined;
    if (pricesAtMs === undefined) return priceAt(prices, startedAt);
    return priceIn(periodAt(prices, pricesAtMs), startedAt);
  };
}

/** Models whose first price begins too late for every request before `untilMs`. */
export function laterModels({ models }: Catalog, untilMs: number): string[] {
  return models.flatMap(({ slug, prices }) =>
    prices.some(({ validFromMs }) => validFromMs >= untilMs) ? [slug] : [],
  );
}
