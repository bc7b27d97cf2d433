// The cost of usage, the amount reserved for it, and how the two relate.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Usage } from '../../src/core/generation.ts';
import { micro, pico, tokenCount } from '../../src/core/money.ts';
import {
  affordableOutput,
  charge,
  chargeServed,
  holdAmount,
  isDearer,
  type Price,
  SLICE_TOKENS,
} from '../../src/core/price.ts';

const anyCount = fc.oneof(fc.nat(100), fc.nat(10_000), fc.nat(1_000_000_000));
const rate = fc
  .oneof(fc.bigInt(0n, 3n), fc.bigInt(0n, 10n ** 12n), fc.bigInt(0n, 10n ** 18n))
  .map(pico);

const anyPrice: fc.Arbitrary<Price> = fc
  .tuple(rate, rate, rate, rate)
  .map(([first, second, cacheWrite, output]) => ({
    version: 'price_test',
    input: first > second ? first : second,
    cachedInput: first > second ? second : first,
    cacheWrite,
    output,
  }));

const anyUsage: fc.Arbitrary<Usage> = fc
  .record({
    inputTokens: anyCount,
    outputTokens: anyCount,
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    written: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .map(({ inputTokens, outputTokens, share, written }) => ({
    inputTokens,
    cachedInputTokens: Math.floor(inputTokens * share),
    cacheWriteTokens: Math.floor((inputTokens - Math.floor(inputTokens * share)) * written),
    outputTokens,
    reasoningTokens: Math.floor(outputTokens * share),
    basis: 'reported',
  }));

function usage(
  inputTokens: number,
  cachedInputTokens: number,
  outputTokens: number,
  cacheWriteTokens = 0,
): Usage {
  return {
    inputTokens,
    cachedInputTokens,
    cacheWriteTokens,
    outputTokens,
    reasoningTokens: 0,
    basis: 'reported',
  };
}

/** The dearest that a prompt and an output can come to. */
function dearest(prompt: number, output: number | bigint, price: Price): bigint {
  const { input, cacheWrite } = price;
  const each = cacheWrite > input ? cacheWrite : input;
  return BigInt(prompt) * each + BigInt(output) * price.output;
}

/** The exact total in 10⁻¹² service token, computed the long way. */
function exact(used: Usage, price: Price): bigint {
  let total = 0n;
  total += BigInt(used.inputTokens) * price.input;
  total -= BigInt(used.cachedInputTokens) * price.input;
  total += BigInt(used.cachedInputTokens) * price.cachedInput;
  total -= BigInt(used.cacheWriteTokens) * price.input;
  total += BigInt(used.cacheWriteTokens) * price.cacheWrite;
  return total + BigInt(used.outputTokens) * price.output;
}

describe('charge', () => {
  test.each([
    [usage(10, 4, 5), [1_000_000_000_000n, 100_000_000_000n, 2_000_000_000_000n], 16_400_000n],
    [usage(0, 0, 0), [10n ** 18n, 10n ** 18n, 10n ** 18n], 0n],
    [usage(1, 0, 0), [499_999n, 0n, 0n], 0n],
    [usage(1, 0, 0), [500_000n, 0n, 0n], 1n],
    [usage(1, 1, 0), [10n ** 18n, 500_000n, 0n], 1n],
    // Three parts that would each round down make one that rounds up: the total is rounded once.
    [usage(2, 1, 1), [200_000n, 200_000n, 200_000n], 1n],
    // Read from the cache, written to it, neither: each token of the prompt is charged once.
    [usage(10, 4, 0, 5), [10n ** 12n, 10n ** 11n, 0n, 125n * 10n ** 10n], 7_650_000n],
    [usage(5, 0, 0, 5), [10n ** 12n, 0n, 0n, 0n], 0n],
  ] as const)(
    '%j costs %p: %p',
    (used, [input, cachedInput, output, cacheWrite = 0n], expected) => {
      expect(
        charge(used, {
          version: 'v',
          input: pico(input),
          cachedInput: pico(cachedInput),
          cacheWrite: pico(cacheWrite),
          output: pico(output),
        }),
      ).toBe(micro(expected));
    },
  );

  test('is the exact total, rounded once and half up', () => {
    fc.assert(
      fc.property(anyUsage, anyPrice, (used, price) => {
        const total = exact(used, price);
        const booked = charge(used, price);
        const difference = 2n * (booked * 1_000_000n - total);
        expect(difference > -1_000_000n && difference <= 1_000_000n).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  test('is as exact where a number holds the total no more', () => {
    const near = fc.bigInt(-2n, 2n);
    const tokens = fc.integer({ min: 1, max: 1_000_000_000 });
    fc.assert(
      fc.property(tokens, tokens, near, near, (input, output, one, other) => {
        const half = 2n ** 52n;
        const used = usage(input, 0, output);
        const price: Price = {
          version: 'v',
          input: pico(half / BigInt(input) + one + 2n),
          cachedInput: pico(0n),
          cacheWrite: pico(0n),
          output: pico(half / BigInt(output) + other + 2n),
        };
        expect(charge(used, price)).toBe(micro((exact(used, price) + 500_000n) / 1_000_000n));
      }),
      { numRuns: 1_000 },
    );
  });

  test('is never negative, and never less for more', () => {
    fc.assert(
      fc.property(anyUsage, anyPrice, fc.nat(1_000), (used, price, more) => {
        const booked = charge(used, price);
        expect(booked >= 0n).toBe(true);
        const grown = [
          { ...used, inputTokens: used.inputTokens + more },
          { ...used, outputTokens: used.outputTokens + more },
          { ...used, cachedInputTokens: Math.max(0, used.cachedInputTokens - more) },
        ];
        for (const each of grown) expect(charge(each, price) >= booked).toBe(true);
      }),
    );
  });
});

const FLAT_RATES = {
  input: pico(5n),
  cachedInput: pico(5n),
  cacheWrite: pico(5n),
  output: pico(5n),
};

test('a price that is not dearer costs no more, however a prompt of that length is used', () => {
  const smallRate = fc.bigInt(0n, 3n).map(pico);
  const small: fc.Arbitrary<Price> = fc
    .tuple(smallRate, smallRate, smallRate, smallRate)
    .map(([input, cachedInput, cacheWrite, output]) => {
      return { version: 'price_test', input, cachedInput, cacheWrite, output };
    });
  fc.assert(
    fc.property(anyUsage, small, small, (used, requested, served) => {
      if (isDearer(served, requested, used.inputTokens)) return;
      expect(charge(used, served) <= charge(used, requested)).toBe(true);
    }),
    { numRuns: 1_000 },
  );
  const flat: Price = { ...FLAT_RATES, version: 'flat' };
  expect(isDearer(flat, flat, 5)).toBe(false);
  expect(isDearer({ ...flat, output: pico(6n) }, flat, 5)).toBe(true);
  expect(isDearer({ ...flat, terms: { cacheWriteLong: pico(6n) } }, flat, 5)).toBe(true);
  const tiered = {
    ...flat,
    terms: { tiers: [{ ...FLAT_RATES, input: pico(6n), aboveTokens: 5 }] },
  };
  expect([isDearer(tiered, flat, 5), isDearer(tiered, flat, 6)]).toEqual([false, true]);
});

test('a fallback costs the lower of the two prices for that usage', () => {
  fc.assert(
    fc.property(anyUsage, anyPrice, anyPrice, (used, requested, served) => {
      const [asked, own] = [charge(used, requested), charge(used, served)];
      expect(chargeServed(used, requested, served)).toBe(asked < own ? asked : own);
    }),
  );
  // Which one is lower depends on the usage, so neither price is "the cheaper one".
  const dearInput: Price = {
    version: 'a',
    input: pico(10n ** 12n),
    cachedInput: pico(0n),
    cacheWrite: pico(10n ** 12n),
    output: pico(0n),
  };
  const dearOutput: Price = {
    version: 'b',
    input: pico(0n),
    cachedInput: pico(0n),
    cacheWrite: pico(0n),
    output: pico(10n ** 12n),
  };
  expect(chargeServed(usage(5, 0, 9), dearInput, dearOutput)).toBe(micro(5_000_000n));
  expect(chargeServed(usage(9, 0, 5), dearInput, dearOutput)).toBe(micro(5_000_000n));
});

describe('holdAmount', () => {
  test('covers every charge within the estimate and the first slice', () => {
    fc.assert(
      fc.property(
        anyUsage,
        anyPrice,
        fc.nat(100_000),
        fc.nat(100_000),
        (used, price, spare, bound) => {
          const outputTokens = Math.min(used.outputTokens, bound, SLICE_TOKENS);
          const held = holdAmount(
            tokenCount(used.inputTokens + spare),
            tokenCount(bound),
            price,
            micro(0n),
          );
          const within = { ...used, outputTokens };
          expect(held >= charge(within, price)).toBe(true);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test('is no more than one unit above the exact price, and at least the minimum', () => {
    fc.assert(
      fc.property(
        anyCount,
        anyCount,
        anyPrice,
        fc.bigInt(0n, 10n ** 9n),
        (prompt, bound, price, minimum) => {
          const output = Math.min(bound, SLICE_TOKENS);
          const total = dearest(prompt, output, price);
          const held = holdAmount(tokenCount(prompt), tokenCount(bound), price, micro(minimum));
          expect(held >= minimum).toBe(true);
          if (held > minimum) {
            expect(held * 1_000_000n >= total).toBe(true);
            expect((held - 1n) * 1_000_000n < total).toBe(true);
          }
        },
      ),
    );
  });

  test('a bound above the first slice reserves no more than the slice', () => {
    const price: Price = {
      version: 'v',
      input: pico(10n ** 12n),
      cachedInput: pico(0n),
      cacheWrite: pico(10n ** 12n),
      output: pico(2n * 10n ** 12n),
    };
    expect(holdAmount(tokenCount(10), tokenCount(4_096), price, micro(0n))).toBe(
      micro(8_202_000_000n),
    );
    expect(holdAmount(tokenCount(10), tokenCount(32_000), price, micro(0n))).toBe(
      micro(8_202_000_000n),
    );
    expect(holdAmount(tokenCount(10), tokenCount(4_095), price, micro(0n))).toBe(
      micro(8_200_000_000n),
    );
  });
});

describe('affordableOutput', () => {
  test('is the most that can be paid for: one token more cannot', () => {
    fc.assert(
      fc.property(
        fc.bigInt(0n, 10n ** 15n),
        fc.nat(100_000),
        anyPrice,
        (available, prompt, price) => {
          fc.pre(price.output > 0n);
          const tokens = affordableOutput(micro(available), tokenCount(prompt), price);
          const cost = (count: bigint): bigint => dearest(prompt, count, price);
          const money = available * 1_000_000n;
          expect(tokens >= 0).toBe(true);
          if (tokens > 0) expect(cost(BigInt(tokens)) <= money).toBe(true);
          if (tokens < Number.MAX_SAFE_INTEGER) {
            expect(cost(BigInt(tokens) + 1n) > money).toBe(true);
          }
        },
      ),
    );
  });

  test('free output has no bound', () => {
    const free: Price = {
      version: 'v',
      input: pico(1n),
      cachedInput: pico(1n),
      cacheWrite: pico(1n),
      output: pico(0n),
    };
    expect(affordableOutput(micro(0n), tokenCount(10), free)).toBe(
      tokenCount(Number.MAX_SAFE_INTEGER),
    );
  });
});
