// Prices that an operator should look at: those that do not cover what an upstream charges, and cache
// writes at the input price where the vendor charges more. Warnings change no charge.

import { isoTime } from '../core/calendar.ts';
import { FACTOR_ONE } from '../core/exact.ts';
import { vendorAt, WRITE_CHARGING_VENDORS } from '../core/generations.ts';
import type { Catalog, Model, Placement } from '../core/model.ts';
import { formatDecimal, PICO_DECIMALS, type Pico, parseDecimal } from '../core/money.ts';
import { factorOf, type Price, ratesFor } from '../core/price.ts';
import { pricesOf } from '../core/price-book.ts';
import { factorText, RATE_NAMES } from '../core/price-terms.ts';
import { joined, listed, type Sentence, say } from '../core/sentence.ts';
import type { PriceDraft } from './price-draft.ts';

/** One for each price and upstream, for prices that are effective at `nowMs` or later. */
export function priceWarnings(catalog: Catalog, nowMs: number): Sentence[] {
  return catalog.models.flatMap((model) =>
    pricesFrom(model, nowMs).flatMap(({ price, from }) =>
      model.servedBy.flatMap((placement) =>
        [belowCost(price, placement, model), writeWarning(price, placement, catalog)].flatMap(
          (warning) =>
            warning === undefined
              ? []
              : say('{slug}: {price} {warning}', { slug: model.slug, price: from, warning }),
        ),
      ),
    ),
  );
}

type NamedPrice = { readonly price: Price; readonly from: Sentence };

/** The current prices of a model and the later ones, each version once. */
function pricesFrom({ prices }: Model, nowMs: number): NamedPrice[] {
  const named = prices.flatMap((period, index): NamedPrice[] => {
    const { validFromMs } = period;
    if ((prices[index + 1]?.validFromMs ?? Number.POSITIVE_INFINITY) <= nowMs) return [];
    const from =
      validFromMs <= nowMs
        ? say('the current price')
        : say('the price from {instant} on', { instant: isoTime(validFromMs) });
    return pricesOf(period).map((price) => ({ price, from }));
  });
  return [...new Map(named.map((each) => [each.price.version, each])).values()];
}

function belowCost(price: Price, placement: Placement, model: Model): Sentence | undefined {
  const gaps = gapsOf(price, placement, model.contextWindow);
  if (gaps.length === 0) return undefined;
  return say('is below the cost of {upstream}: {gaps}', {
    upstream: placement.upstream,
    gaps: joined(gaps, '; '),
  });
}

/** The rates and factors at which the price is lower than the cost. */
function gapsOf(price: Price, { cost }: Placement, contextWindow: number): Sentence[] {
  if (cost === undefined) return [];
  const bounds = [price, cost].flatMap(({ terms }) => terms?.tiers ?? []);
  const starts = new Set([0, ...bounds.map(({ aboveTokens }) => aboveTokens)]);
  const rows = [...starts].filter((start) => start < contextWindow).toSorted((a, b) => a - b);
  return [
    ...rows.flatMap((start) => {
      const gaps = rateGaps(price, cost, start);
      if (gaps.length === 0) return [];
      const list = listed(gaps);
      return start === 0
        ? list
        : say('above {count} tokens {gaps}', { count: String(start), gaps: list });
    }),
    ...(cost.terms?.serviceTiers ?? []).flatMap(({ name, factor }) => {
      const own = factorOf(price, name) ?? FACTOR_ONE;
      if (price.output * BigInt(own) >= cost.output * BigInt(factor)) return [];
      return say('service tier {name} × {own} (costs × {cost})', {
        name,
        own: factorText(own),
        cost: factorText(factor),
      });
    }),
  ];
}

function rateGaps(price: Price, cost: Price, aboveTokens: number): Sentence[] {
  const sold = ratesFor(price, aboveTokens + 1);
  const bought = ratesFor(cost, aboveTokens + 1);
  return RATE_NAMES.flatMap(([member, name, whole]) => {
    if (sold[member] === undefined && bought[member] === undefined) return [];
    const [own, costs] = [sold[member] ?? sold[whole], bought[member] ?? bought[whole]];
    if (own >= costs) return [];
    return say('{name} {own} (costs {cost})', { name, own: rateText(own), cost: rateText(costs) });
  });
}

/** A cost that names the price of writes answers the question better than a vendor's host. */
function writeWarning(
  { input, cacheWrite }: Price,
  placement: Placement,
  catalog: Catalog,
): Sentence | undefined {
  const { cost, upstream } = placement;
  const isPriced = cacheWrite > input || (cost !== undefined && cost.cacheWrite > cost.input);
  if (isPriced || input === 0n || !chargesWrites(placement, catalog)) return undefined;
  const rate = rateText(writeRate(input));
  return say(
    'charges cache writes like input, and {upstream} charges 1.25 times its input price for them; write {line} in the next price',
    { upstream, line: `cache_write = "${rate}"` },
  );
}

function chargesWrites({ profile, upstream: id }: Placement, { upstreams }: Catalog): boolean {
  const upstream = upstreams.get(id);
  if (upstream === undefined || upstream.dialect === 'demo') return false;
  const vendor = vendorAt(URL.parse(upstream.baseUrl)?.hostname ?? '');
  return profile.unreportedCacheWrites === 'count' || WRITE_CHARGING_VENDORS.includes(vendor ?? '');
}

/** 1.25 times the input price, rounded up. */
function writeRate(input: bigint): bigint {
  return (input * 5n + 3n) / 4n;
}

function rateText(rate: Pico | bigint): string {
  return formatDecimal(rate, PICO_DECIMALS);
}

/**
 * The draft with an explicit `cache_write` in each new price of a model whose vendor charges writes.
 * The file says what is charged, so no default has to change.
 */
export function withWritePrices(draft: PriceDraft, catalog: Catalog): PriceDraft {
  const add = draft.add?.map((period) => {
    const { servedBy = [] } = catalog.resolve(period.model) ?? {};
    const charges = servedBy.some((placement) => chargesWrites(placement, catalog));
    return charges ? withWrites(period) : period;
  });
  return { ...draft, ...(add && { add }) };
}

type Row = {
  readonly input: string | number;
  readonly cache_write?: string | number;
  readonly tiers?: readonly Row[];
  readonly windows?: readonly Row[];
};

/** Also in its tiers and windows. */
function withWrites<Entry extends Row>(entry: Entry): Entry {
  const { tiers, windows, cache_write: written } = entry;
  const input = parseDecimal(String(entry.input), PICO_DECIMALS) ?? 0n;
  return {
    ...entry,
    ...(written === undefined && input > 0n && { cache_write: rateText(writeRate(input)) }),
    ...(tiers && { tiers: tiers.map(withWrites) }),
    ...(windows && { windows: windows.map(withWrites) }),
  };
}
