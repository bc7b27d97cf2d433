// What a price has beyond four rates: its charge, what is held for it, and its canonical text.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Usage } from '../../src/core/generation.ts';
import { CAUTIOUS_FACTOR } from '../../src/core/learned.ts';
import { micro, pico, tokenCount } from '../../src/core/money.ts';
import {
  affordableOutput,
  charge,
  coverAmount,
  factorOf,
  holdAmount,
  type Price,
  promptExcess,
  ratesFor,
  SLICE_TOKENS,
  tierOf,
  withoutServiceTiers,
} from '../../src/core/price.ts';
import { readTerms, termsText } from '../../src/core/price-terms.ts';
import { anyDetailedUsage, anyPricedPrice, anyTerms } from '../support/price-terms.ts';

/** USD a million tokens, at a million service tokens a USD. */
const usd = (amount: number) => pico(BigInt(Math.round(amount * 10 ** 6)) * 10n ** 6n);

/** A price as OpenAI's: everything dearer above 272,000 tokens, priority twice. */
const LONG: Price = {
  version: 'price_long',
  ...{ input: usd(2), cachedInput: usd(0.1), cacheWrite: usd(2.5), output: usd(10) },
  terms: {
    cacheWriteLong: usd(4),
    tiers: [
      {
        aboveTokens: 272_000,
        ...{ input: usd(4), cachedInput: usd(0.2), cacheWrite: usd(5), output: usd(15) },
        cacheWriteLong: usd(8),
      },
    ],
    serviceTiers: [
      { name: 'flex', factor: 5_000 },
      { name: 'priority', factor: 20_000 },
    ],
  },
};

function usageOf(inputTokens: number, more: Partial<Usage> = {}): Usage {
  return {
    ...{ inputTokens, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0 },
    ...{ reasoningTokens: 0, basis: 'reported' },
    ...more,
  };
}

/** In 10⁻¹⁶ service token, computed the long way. */
function exact(usage: Usage, price: Price): bigint {
  const rates = ratesFor(price, usage.inputTokens);
  const { cachedExplicitTokens = 0, cacheWriteLongTokens = 0, serviceTier } = usage;
  const { cachedInputTokens: cached, cacheWriteTokens: written } = usage;
  let total = BigInt(usage.inputTokens - cached - written) * rates.input;
  total += BigInt(cached - cachedExplicitTokens) * rates.cachedInput;
  total += BigInt(cachedExplicitTokens) * (rates.cachedInputExplicit ?? rates.cachedInput);
  total += BigInt(written - cacheWriteLongTokens) * rates.cacheWrite;
  total += BigInt(cacheWriteLongTokens) * (rates.cacheWriteLong ?? rates.cacheWrite);
  total += BigInt(usage.outputTokens) * rates.output;
  const factor = serviceTier === undefined ? undefined : factorOf(price, serviceTier);
  return total * BigInt(factor ?? 10_000);
}

describe('charge', () => {
  test('a long prompt with writes of an hour and a priority tier, to the last digit', () => {
    const used = usageOf(300_000, {
      ...{ cachedInputTokens: 100_001, cacheWriteTokens: 150_003, cacheWriteLongTokens: 50_007 },
      ...{ outputTokens: 12_345, serviceTier: 'priority' },
    });
    // 49,996 × 4 + 100,001 × 0.2 + 99,996 × 5 + 50,007 × 8 + 12,345 × 15 = 1,305,195.2, twice.
    expect(charge(used, LONG)).toBe(micro(2_610_390_400_000n));
    expect(charge({ ...used, serviceTier: 'flex' }, LONG)).toBe(micro(652_597_600_000n));
  });

  test.each([
    [272_000, 544_000_000_000n],
    [272_001, 1_088_004_000_000n],
  ])('a prompt of %d tokens has the rates of its tier for all of it', (tokens, expected) => {
    expect(charge(usageOf(tokens), LONG)).toBe(micro(expected));
  });

  test('a service tier without a factor has a factor of one', () => {
    expect(charge(usageOf(5, { serviceTier: 'scale' }), LONG)).toBe(charge(usageOf(5), LONG));
    expect(charge(usageOf(5, { serviceTier: 'constructor' }), LONG)).toBe(charge(usageOf(5), LONG));
  });

  test('is the exact total of all kinds times the factor, rounded once and half up', () => {
    fc.assert(
      fc.property(anyDetailedUsage, anyPricedPrice, (usage, price) => {
        const unit = 10n ** 10n;
        expect(charge(usage, price)).toBe(micro((exact(usage, price) + unit / 2n) / unit));
      }),
      { numRuns: 1_000 },
    );
  });

  test('never falls with more output, nor with a longer prompt within one tier', () => {
    fc.assert(
      fc.property(anyDetailedUsage, anyPricedPrice, fc.nat(5_000), (usage, price, more) => {
        const booked = charge(usage, price);
        const longer = { ...usage, inputTokens: usage.inputTokens + more };
        expect(charge({ ...usage, outputTokens: usage.outputTokens + more }, price) >= booked).toBe(
          true,
        );
        if (tierOf(price, longer.inputTokens) === tierOf(price, usage.inputTokens)) {
          expect(charge(longer, price) >= booked).toBe(true);
        }
      }),
    );
  });
});

describe('what is held', () => {
  test('covers every charge within the estimate and the first slice', () => {
    fc.assert(
      fc.property(anyDetailedUsage, anyPricedPrice, fc.nat(100_000), (usage, price, spare) => {
        const estimate = tokenCount(usage.inputTokens + spare);
        const used = { ...usage, outputTokens: Math.min(usage.outputTokens, SLICE_TOKENS) };
        expect(holdAmount(estimate, SLICE_TOKENS, price, micro(0n)) >= charge(used, price)).toBe(
          true,
        );
      }),
      { numRuns: 1_000 },
    );
  });

  test('has the rates of a tier whose bound the estimate just reaches', () => {
    const held = (tokens: number) => coverAmount(tokenCount(tokens), tokenCount(0), LONG);
    // Twice for the priority tier; writes of an hour are the dearest.
    expect(held(271_999)).toBe(micro(271_999n * 8n * 10n ** 6n));
    expect(held(272_000)).toBe(micro(272_000n * 16n * 10n ** 6n));
  });

  test('leaves out service tiers that no upstream is asked for', () => {
    const ordinary = withoutServiceTiers(LONG);
    expect(coverAmount(tokenCount(10), tokenCount(0), ordinary)).toBe(micro(40_000_000n));
    expect(charge(usageOf(300_000), ordinary)).toBe(charge(usageOf(300_000), LONG));
  });

  test('with the excess covers a prompt of up to 16 times the estimate and all output', () => {
    fc.assert(
      fc.property(
        anyDetailedUsage,
        anyPricedPrice,
        fc.integer({ min: 1, max: 16 }),
        (usage, price, factor) => {
          const estimate = tokenCount(Math.ceil(usage.inputTokens / factor));
          const bound = tokenCount(usage.outputTokens);
          const held = coverAmount(estimate, bound, price);
          const excess = promptExcess(estimate, bound, 10_000_000, price, CAUTIOUS_FACTOR);
          expect(held + excess >= charge(usage, price)).toBe(true);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test('the affordable output is the most that the amount covers', () => {
    fc.assert(
      fc.property(
        fc.bigInt(0n, 10n ** 15n),
        fc.nat(400_000),
        anyPricedPrice,
        (available, prompt, price) => {
          const tokens = affordableOutput(micro(available), tokenCount(prompt), price);
          fc.pre(tokens < 10 ** 9);
          const cost = (count: number) => coverAmount(tokenCount(prompt), tokenCount(count), price);
          if (tokens > 0) expect(cost(tokens) <= available).toBe(true);
          expect(cost(tokens + 1) > available).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('the text of terms', () => {
  test('is the same for equal terms, and reads back as them', () => {
    fc.assert(
      fc.property(anyTerms, (terms) => {
        expect(readTerms(termsText(terms))).toEqual(terms);
      }),
    );
    expect(termsText({ ...LONG.terms })).toBe(
      '{"cache_write_1h":"4","tiers":[{"above_tokens":272000,"input":"4","cached_input":"0.2",' +
        '"cache_write":"5","output":"15","cache_write_1h":"8"}],' +
        '"service_tiers":{"flex":"0.5","priority":"2"}}',
    );
  });

  test.each(['{}', '[]', '{"cache_write_1h":"01"}', '{"tiers":[{}]}', '{"service_tiers":{"a":2}}'])(
    'does not read %s',
    (text) => {
      expect(() => readTerms(text)).toThrow(TypeError);
    },
  );
});
