// Multiplies usage by price. Rounds once, half up, on the total of a request.

import {
  type Exact,
  FACTOR_ONE,
  PICO_PER_MICRO,
  plus,
  product,
  quotient,
  toMicro,
} from './exact.ts';
import type { Usage } from './generation.ts';
import { larger, type Micro, type Pico, smaller, type Tokens, tokenCount } from './money.ts';

/** What each kind of token costs. */
export type Rates = {
  readonly input: Pico;
  readonly cachedInput: Pico;
  /** For the part of the prompt that the upstream wrote to its cache. */
  readonly cacheWrite: Pico;
  readonly output: Pico;
};

/** Rates that differ from those of all reads or writes of the cache; absent: they do not differ. */
export type CacheRates = {
  /** For cache reads that an explicit mark made. */
  readonly cachedInputExplicit?: Pico;
  /** For cache writes that live for an hour or longer. */
  readonly cacheWriteLong?: Pico;
};

/** The rates of a whole request whose prompt exceeds `aboveTokens`. */
export type PriceTier = Rates & CacheRates & { readonly aboveTokens: number };

/** What a service tier's answers cost, in ten-thousandths of the ordinary tier. */
export type TierFactor = { readonly name: string; readonly factor: number };

/** What a price may have beyond its four rates. Absent members say nothing. */
export type PriceTerms = CacheRates & {
  /** In strictly ascending order. */
  readonly tiers?: readonly PriceTier[];
  /** In the order of their names. */
  readonly serviceTiers?: readonly TierFactor[];
};

/** One version of a model's price. `version` is stored on the hold and the usage record. */
export type Price = Rates & {
  readonly version: string;
  /** Absent or null, as in the books: none. */
  readonly terms?: PriceTerms | null;
};

/** Output tokens covered by one hold or one extension. */
export const SLICE_TOKENS = tokenCount(4_096);

export const NO_TOKENS = tokenCount(0);
const MOST_TOKENS = tokenCount(Number.MAX_SAFE_INTEGER);

/** Tokens that cost the same, for the charge and for its explanation. */
export type Bucket = {
  readonly name:
    | 'input'
    | 'cached_input'
    | 'cached_input_explicit'
    | 'cache_write'
    | 'cache_write_1h'
    | 'output';
  readonly tokens: number;
  readonly rate: Pico;
};

/**
 * `usage` by kind of token, at the rates for a prompt of that length. The two kinds that only some
 * upstreams charge apart are left out where there are no such tokens.
 */
export function bucketsOf(usage: Usage, price: Price): readonly Bucket[] {
  const { inputTokens, cachedInputTokens: cached, cacheWriteTokens: written } = usage;
  const { cachedExplicitTokens: explicit = 0, cacheWriteLongTokens: long = 0 } = usage;
  const rates = ratesFor(price, inputTokens);
  const { cachedInputExplicit = rates.cachedInput, cacheWriteLong = rates.cacheWrite } = rates;
  const buckets: Bucket[] = [
    { name: 'input', tokens: inputTokens - cached - written, rate: rates.input },
    { name: 'cached_input', tokens: cached - explicit, rate: rates.cachedInput },
    { name: 'cache_write', tokens: written - long, rate: rates.cacheWrite },
    { name: 'output', tokens: usage.outputTokens, rate: rates.output },
  ];
  if (explicit > 0)
    buckets.push({ name: 'cached_input_explicit', tokens: explicit, rate: cachedInputExplicit });
  if (long > 0) buckets.push({ name: 'cache_write_1h', tokens: long, rate: cacheWriteLong });
  return buckets;
}

/** The whole request has the rates of the highest tier whose bound its prompt exceeds. */
export function ratesFor(price: Price, inputTokens: number): Rates & CacheRates {
  const { terms } = price;
  if (terms === undefined || terms === null) return price;
  return tierOf(price, inputTokens) ?? { ...terms, ...price };
}

/** The highest tier whose bound the prompt exceeds; undefined if it exceeds none. */
export function tierOf(price: Price, inputTokens: number): PriceTier | undefined {
  return price.terms?.tiers?.findLast(({ aboveTokens }) => inputTokens > aboveTokens);
}

/** The factor of a service tier; undefined where the price does not name it. */
export function factorOf(price: Price, serviceTier: string): number | undefined {
  return price.terms?.serviceTiers?.find(({ name }) => name === serviceTier)?.factor;
}

/** The price of requests that can have no other service tier than the ordinary one. */
export function withoutServiceTiers(price: Price): Price {
  if (price.terms?.serviceTiers === undefined) return price;
  const { serviceTiers: _, ...terms } = price.terms;
  return { ...price, terms };
}

/** What `usage` costs at `price`. A service tier that the price does not name has a factor of one. */
export function charge(usage: Usage, price: Price): Micro {
  const { serviceTier, cachedExplicitTokens: explicit, cacheWriteLongTokens: long } = usage;
  const isPlain = explicit === undefined && long === undefined;
  const total = isPlain ? plainTotal(usage, price) : bucketTotal(usage, price);
  const factor = serviceTier === undefined ? undefined : factorOf(price, serviceTier);
  return toMicro(total, 'half up', factor);
}

/** The sum of `bucketsOf` without its list: each request is charged several times. */
function plainTotal(usage: Usage, price: Price): Exact {
  const { inputTokens, cachedInputTokens: cached, cacheWriteTokens: written } = usage;
  const { input, cachedInput, cacheWrite, output } = ratesFor(price, inputTokens);
  const uncached = product(inputTokens - cached - written, input);
  const cache = plus(product(cached, cachedInput), product(written, cacheWrite));
  return plus(plus(uncached, cache), product(usage.outputTokens, output));
}

function bucketTotal(usage: Usage, price: Price): Exact {
  let total: Exact = 0;
  for (const { tokens, rate } of bucketsOf(usage, price))
    total = plus(total, product(tokens, rate));
  return total;
}

/**
 * Whether any kind of token of a prompt of that length may cost more at `served` than at
 * `requested`. Only the use decides which kinds there are, so each rate is compared.
 */
export function isDearer(served: Price, requested: Price, promptTokens: number): boolean {
  if (served === requested) return false;
  const [one, other] = [ratesFor(served, promptTokens), ratesFor(requested, promptTokens)];
  const { cachedInputExplicit = one.cachedInput, cacheWriteLong = one.cacheWrite } = one;
  return (
    one.input > other.input ||
    one.cachedInput > other.cachedInput ||
    one.cacheWrite > other.cacheWrite ||
    one.output > other.output ||
    cachedInputExplicit > (other.cachedInputExplicit ?? other.cachedInput) ||
    cacheWriteLong > (other.cacheWriteLong ?? other.cacheWrite) ||
    worstRates(served, promptTokens).factor > worstRates(requested, promptTokens).factor
  );
}

/** A fallback costs the lower of the requested and the serving model's price for that usage. */
export function chargeServed(usage: Usage, requested: Price, served: Price): Micro {
  const own = charge(usage, served);
  if (requested === served) return own;
  return smaller(own, charge(usage, requested));
}

/**
 * The amount to reserve: the prompt at its highest possible price plus the first slice of output,
 * rounded up.
 */
export function holdAmount(
  promptTokens: Tokens,
  outputBound: Tokens,
  price: Price,
  minimum: Micro,
): Micro {
  return larger(coverAmount(promptTokens, smaller(outputBound, SLICE_TOKENS), price), minimum);
}

/**
 * The most that a request may cost because its prompt is up to `factor` times the estimate: its
 * tokens, and all output at the rate of a higher tier. A prompt never exceeds `contextWindow`.
 */
export function promptExcess(
  promptTokens: Tokens,
  outputBound: Tokens,
  contextWindow: number,
  price: Price,
  factor: number,
): Micro {
  const most = Math.max(promptTokens, Math.min(Math.ceil(promptTokens * factor), contextWindow));
  if (price.terms === undefined || price.terms === null) {
    return toMicro(product(most - promptTokens, dearestInput(price)), 'up');
  }
  const expected = worstRates(price, promptTokens);
  const worst = worstRates(price, most);
  const prompt = BigInt(most) * worst.prompt - BigInt(promptTokens) * expected.prompt;
  const output = BigInt(outputBound) * (worst.output - expected.output);
  return toMicro(prompt + output, 'up', worst.factor);
}

/** The most that hidden thinking may cost. It is reported only when the answer is complete. */
export function hiddenOutput(promptTokens: Tokens, outputBound: Tokens, price: Price): Micro {
  const { output, factor } = worstRates(price, promptTokens);
  return toMicro(product(Math.max(0, outputBound - SLICE_TOKENS), output), 'up', factor);
}

/**
 * The amount that covers a prompt and that much output, however the prompt splits into token kinds.
 */
export function coverAmount(promptTokens: Tokens, outputTokens: Tokens, price: Price): Micro {
  const { prompt, output, factor } = worstRates(price, promptTokens);
  const total = plus(product(promptTokens, prompt), product(outputTokens, output));
  return toMicro(total, 'up', factor);
}

/**
 * The output tokens that `available` can pay for beside the prompt. An output bound above the first
 * slice is lowered to this, so that the upstream never runs far past an empty balance.
 */
export function affordableOutput(available: Micro, promptTokens: Tokens, price: Price): Tokens {
  const { prompt, output, factor } = worstRates(price, promptTokens);
  if (output === 0n) return MOST_TOKENS;
  const money =
    factor === FACTOR_ONE
      ? product(PICO_PER_MICRO, available)
      : (available * BigInt(PICO_PER_MICRO * FACTOR_ONE)) / BigInt(factor);
  const left = plus(money, product(-promptTokens, prompt));
  return left <= 0 ? NO_TOKENS : smaller(MOST_TOKENS, tokenCount(quotient(left, output)));
}

type WorstRates = { readonly prompt: Pico; readonly output: Pico; readonly factor: number };

/**
 * The highest rates of a prompt of up to `promptTokens`. A prompt that just reaches the bound of a
 * tier has the tier's: an upstream may count a token more. Cached input never costs more than input.
 */
function worstRates(price: Price, promptTokens: number): WorstRates {
  const { terms } = price;
  let { output } = price;
  if (terms === undefined || terms === null) {
    return { prompt: dearestInput(price), output, factor: FACTOR_ONE };
  }
  let prompt = larger(dearestInput(price), terms.cacheWriteLong ?? price.input);
  for (const tier of terms.tiers ?? []) {
    if (tier.aboveTokens > promptTokens) break;
    prompt = larger(prompt, larger(dearestInput(tier), tier.cacheWriteLong ?? tier.input));
    output = larger(output, tier.output);
  }
  const factors = terms.serviceTiers?.map(({ factor }) => factor) ?? [];
  return { prompt, output, factor: Math.max(FACTOR_ONE, ...factors) };
}

function dearestInput({ input, cacheWrite }: Rates): Pico {
  return larger(input, cacheWrite);
}
