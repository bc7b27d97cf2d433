// Arbitrary prices with tiers, cache rates and service tiers, and usage that names them.

import fc from 'fast-check';
import type { Usage } from '../../src/core/generation.ts';
import { pico } from '../../src/core/money.ts';
import type { CacheRates, Price, PriceTerms, PriceTier, Rates } from '../../src/core/price.ts';

const rate = fc.oneof(fc.bigInt(0n, 3n), fc.bigInt(0n, 10n ** 13n)).map(pico);

/** Cached input never costs more than input. */
const row: fc.Arbitrary<Rates & CacheRates> = fc
  .record({ rates: fc.array(rate, { minLength: 3, maxLength: 3 }), cacheWrite: rate, output: rate })
  .chain(({ rates, cacheWrite, output }) => {
    const [cachedInputExplicit = pico(0n), cachedInput = pico(0n), input = pico(0n)] =
      rates.toSorted((a, b) => (a < b ? -1 : 1));
    return fc.record(
      {
        ...{ input: fc.constant(input), cachedInput: fc.constant(cachedInput) },
        ...{ cacheWrite: fc.constant(cacheWrite), output: fc.constant(output) },
        ...{ cachedInputExplicit: fc.constant(cachedInputExplicit), cacheWriteLong: rate },
      },
      { requiredKeys: ['input', 'cachedInput', 'cacheWrite', 'output'] },
    );
  });

export const TIER_WORDS = ['fast', 'flex', 'priority'] as const;

const serviceTiers = fc
  .uniqueArray(fc.constantFrom(...TIER_WORDS), { minLength: 1 })
  .chain((names) =>
    fc.tuple(
      ...names
        .toSorted()
        .map((name) =>
          fc.record({ name: fc.constant(name), factor: fc.integer({ min: 1, max: 60_000 }) }),
        ),
    ),
  );

const tiers = fc
  .uniqueArray(fc.integer({ min: 1, max: 400_000 }), { minLength: 1, maxLength: 4 })
  .chain((bounds) =>
    fc.tuple(
      ...bounds
        .toSorted((a, b) => a - b)
        .map(
          (aboveTokens): fc.Arbitrary<PriceTier> => row.map((rates) => ({ aboveTokens, ...rates })),
        ),
    ),
  );

export const anyTerms: fc.Arbitrary<PriceTerms> = fc
  .tuple(row, fc.record({ tiers, serviceTiers }, { requiredKeys: [] }))
  .map(([{ input: _, cachedInput: _c, cacheWrite: _w, output: _o, ...cache }, terms]) => ({
    ...cache,
    ...terms,
  }))
  .filter((terms) => Object.keys(terms).length > 0);

export const anyPricedPrice: fc.Arbitrary<Price> = fc
  .tuple(row, fc.record({ tiers, serviceTiers }, { requiredKeys: [] }))
  .map(([{ cachedInputExplicit, cacheWriteLong, ...rates }, more]) => {
    const terms: PriceTerms = {
      ...(cachedInputExplicit !== undefined && { cachedInputExplicit }),
      ...(cacheWriteLong !== undefined && { cacheWriteLong }),
      ...more,
    };
    // No price has empty terms.
    const isPlain = Object.keys(terms).length === 0;
    return { version: 'price_test', ...rates, ...(!isPlain && { terms }) };
  });

const share = fc.double({ min: 0, max: 1, noNaN: true });

export const anyDetailedUsage: fc.Arbitrary<Usage> = fc
  .record({
    inputTokens: fc.oneof(fc.nat(100), fc.nat(500_000)),
    outputTokens: fc.nat(200_000),
    ...{ cached: share, written: share, explicit: share, long: share },
    serviceTier: fc.option(fc.constantFrom(...TIER_WORDS, 'unknown'), { nil: undefined }),
  })
  .map(({ inputTokens, outputTokens, serviceTier, ...shares }) => {
    const cached = Math.floor(inputTokens * shares.cached);
    const written = Math.floor((inputTokens - cached) * shares.written);
    const explicit = Math.floor(cached * shares.explicit);
    const long = Math.floor(written * shares.long);
    return {
      ...{ inputTokens, cachedInputTokens: cached, cacheWriteTokens: written, outputTokens },
      ...{ reasoningTokens: 0, basis: 'reported' as const },
      ...(explicit > 0 && { cachedExplicitTokens: explicit }),
      ...(long > 0 && { cacheWriteLongTokens: long }),
      ...(serviceTier !== undefined && { serviceTier }),
    };
  });
