// Multiplies usage by price. Rounds once, half up, on the total of a request.

import type { Usage } from './generation.ts';
import {
  larger,
  MICRO_DECIMALS,
  type Micro,
  micro,
  PICO_DECIMALS,
  type Pico,
  smaller,
  type Tokens,
  tokenCount,
} from './money.ts';

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

const PICO_PER_MICRO = 10 ** (PICO_DECIMALS - MICRO_DECIMALS);

/** What `usage` costs at `price`. */
export function charge(usage: Usage, price: Price): Micro {
  const { inputTokens, cachedInputTokens: cached, cacheWriteTokens: written } = usage;
  const output = product(usage.outputTokens, price.output);
  const uncached = product(inputTokens - cached - written, price.input);
  const cache = sum(product(cached, price.cachedInput), product(written, price.cacheWrite));
  return toMicro(sum(sum(uncached, cache), output), PICO_PER_MICRO / 2);
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
 * The largest factor by which a prompt may exceed our estimate: a finer tokenizer, or an image at
 * its largest. A prompt never exceeds the model's context window.
 */
const WORST_PROMPT_FACTOR = 16;

/** The most that a prompt may cost beyond its estimate. `contextWindow` is the model's. */
export function promptExcess(promptTokens: Tokens, contextWindow: number, price: Price): Micro {
  const most = Math.min(promptTokens * WORST_PROMPT_FACTOR, contextWindow);
  return coverAmount(tokenCount(Math.max(0, most - promptTokens)), NO_TOKENS, price);
}

/** The most that hidden thinking may cost. It is reported only when the answer is complete. */
export function hiddenOutput(outputBound: Tokens, price: Price): Micro {
  return coverAmount(NO_TOKENS, tokenCount(Math.max(0, outputBound - SLICE_TOKENS)), price);
}

/**
 * The amount that covers a prompt and that much output, however the prompt splits into token kinds.
 */
export function coverAmount(promptTokens: Tokens, outputTokens: Tokens, price: Price): Micro {
  const input = product(promptTokens, dearestInput(price));
  return toMicro(sum(input, product(outputTokens, price.output)), PICO_PER_MICRO - 1);
}

/**
 * The output tokens that `available` can pay for beside the prompt. An output bound above the first
 * slice is lowered to this, so that the upstream never runs far past an empty balance.
 */
export function affordableOutput(available: Micro, promptTokens: Tokens, price: Price): Tokens {
  if (price.output === 0n) return MOST_TOKENS;
  const left = available * BigInt(PICO_PER_MICRO) - BigInt(promptTokens) * dearestInput(price);
  if (left <= 0n) return NO_TOKENS;
  const tokens = left / price.output;
  return smaller(MOST_TOKENS, tokenCount(Number(tokens)));
}

/** The highest price of a prompt token; cached input never costs more than input. */
function dearestInput({ input, cacheWrite }: Price): Pico {
  return larger(input, cacheWrite);
}

/** An exact integer: a number up to 2⁵³, which saves allocating a bigint, and a bigint beyond. */
type Exact = number | bigint;

function product(tokens: number, price: Pico): Exact {
  // The product is inexact only beyond 2⁵³, or zero.
  const near = tokens * Number(price);
  return Number.isSafeInteger(near) ? near : BigInt(tokens) * price;
}

function sum(a: Exact, b: Exact): Exact {
  const near = typeof a === 'number' && typeof b === 'number' ? a + b : Number.NaN;
  return Number.isSafeInteger(near) ? near : BigInt(a) + BigInt(b);
}

/** `raise` is added before the division truncates, so it sets the rounding. */
function toMicro(total: Exact, raise: number): Micro {
  const raised = sum(total, raise);
  if (typeof raised === 'bigint') return micro(raised / BigInt(PICO_PER_MICRO));
  // Division of two numbers would round, so the remainder is subtracted first.
  return micro(BigInt((raised - (raised % PICO_PER_MICRO)) / PICO_PER_MICRO));
}
