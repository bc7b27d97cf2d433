// Which counts are charged: the upstream's report while it is plausible, our own otherwise.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Usage } from '../../src/core/generation.ts';
import { decideUsage, NO_USAGE, withNamedTier, withPricedTier } from '../../src/core/usage.ts';
import { flatPrice } from '../support/price.ts';

function counts(inputTokens: number, outputTokens: number, basis: Usage['basis']): Usage {
  return { ...NO_USAGE, inputTokens, outputTokens, basis };
}

const own = counts(20, 10, 'estimated');
/** A prompt of 20 by our count may be reported as 2,000. */
const facts = {
  ...{ counted: 20, promptFactor: 100, outputBound: 100 },
  ...{ estimate: () => own, unreported: () => own },
};

function decided(input: number, output: number): Usage {
  return decideUsage({ ...facts, reported: counts(input, output, 'reported') });
}

describe('a report is believed', () => {
  test.each([
    ['within the bounds', 1_000, 100],
    ['at the bounds', 2_000, 356],
  ])('%s', (_name, input, output) => {
    expect(decided(input, output)).toEqual(counts(input, Math.min(100, output), 'reported'));
  });

  test('up to 1,000 tokens above our count, where the reports so far were equal', () => {
    const reported = counts(1_020, 10, 'reported');
    expect(decideUsage({ ...facts, promptFactor: 2, reported })).toBe(reported);
    const above = { ...counts(1_021, 10, 'reported'), cachedInputTokens: 1_015 };
    expect(decideUsage({ ...facts, promptFactor: 2, reported: above })).toEqual({
      ...counts(1_020, 10, 'estimated'),
      ...{ cachedInputTokens: 1_015, doubt: 'implausible' },
    });
  });
});

test('a few tokens above the bound, where servers count ends differently, are not charged', () => {
  expect(decided(1_000, 356)).toEqual(counts(1_000, 100, 'reported'));
  const reported = { ...counts(1_000, 356, 'reported'), reasoningTokens: 200 };
  expect(decideUsage({ ...facts, reported })).toEqual({
    ...counts(1_000, 100, 'reported'),
    reasoningTokens: 100,
  });
});

describe('B-154: a zero is a zero, and the operator is alerted where it gives something away', () => {
  test.each([
    ['of everything', 0, 0],
    ['of the output alone', 20, 0],
    ['of the prompt alone', 0, 10],
  ])('%s', (_name, input, output) => {
    expect(decided(input, output)).toEqual({ ...counts(input, output, 'reported'), doubt: 'zero' });
  });

  test('no output of an answer without content is no gift', () => {
    const estimate = () => counts(20, 0, 'estimated');
    const reported = counts(20, 0, 'reported');
    expect(decideUsage({ ...facts, estimate, reported })).toBe(reported);
  });
});

describe('an implausible report costs the larger of our own count and the bound of the request', () => {
  test.each([
    ['prompt far above our count', [2_001, 100], [2_000, 100]],
    ['its output is believed where that is plausible', [2_001, 40], [2_000, 40]],
    ['our own count of the output is the least', [2_001, 4], [2_000, 10]],
    ['output far above the bound, for any count of ours', [1_000, 357], [1_000, 100]],
    ['our own count of the prompt is the least', [7, 357], [20, 100]],
    ['a billion', [1_000_000_000, 1_000_000_000], [2_000, 100]],
  ] as const)('%s', (_name, [input, output], [chargedInput, chargedOutput]) => {
    const charged = counts(chargedInput, chargedOutput, 'estimated');
    expect(decided(input, output)).toEqual({ ...charged, doubt: 'implausible' });
  });
});

test('an answer within what the model could have done is not counted again', () => {
  const estimate = () => {
    throw new Error('counted');
  };
  const reported = counts(1_000, 100, 'reported');
  expect(decideUsage({ ...facts, estimate, reported })).toBe(reported);
});

test('without a report the estimate counts', () => {
  expect(decideUsage({ ...facts, reported: undefined })).toBe(own);
});

test.each(['malformed', 'inconsistent'] as const)(
  'in place of a report that is %s the estimate counts, and says so',
  (doubt) => {
    const reported = { basis: 'rejected', doubt } as const;
    expect(decideUsage({ ...facts, reported })).toEqual({ ...own, doubt });
  },
);

test('the bound is one on what is charged, also without a report', () => {
  const estimate = () => ({ ...counts(20, 5_000, 'estimated'), reasoningTokens: 300 });
  const unreported = estimate;
  const bounded = { ...counts(20, 100, 'estimated'), reasoningTokens: 100 };
  expect(decideUsage({ ...facts, unreported, reported: undefined })).toEqual(bounded);
  const reported = counts(20, 5_000, 'reported');
  const implausible = { ...bounded, inputTokens: 20, doubt: 'implausible' as const };
  expect(decideUsage({ ...facts, estimate, reported })).toEqual(implausible);
});

test('what is charged is the report or the most that it allows, and never beyond what the model could have done', () => {
  const nat = fc.nat(10_000_000);
  fc.assert(
    fc.property(
      nat,
      nat,
      nat,
      nat,
      fc.double({ min: 2, max: 16, noNaN: true }),
      fc.nat(32_000),
      (...numbers) => {
        const [input, output, counted, ownOutput, promptFactor, outputBound] = numbers;
        const reported = counts(input, output, 'reported');
        const estimate = () => counts(counted, ownOutput, 'estimated');
        const bounds = { counted, promptFactor, outputBound };
        const decided = decideUsage({ ...bounds, reported, estimate, unreported: estimate });
        const promptBound = Math.max(Math.floor(counted * promptFactor), counted + 1_000);
        if (decided.basis === 'estimated') {
          expect(decided.doubt).toBe('implausible');
          expect(decided.inputTokens).toBe(Math.max(counted, Math.min(input, promptBound)));
          expect(decided.outputTokens).toBe(Math.min(Math.max(ownOutput, output), outputBound));
          return;
        }
        const charged = { ...reported, outputTokens: Math.min(output, outputBound) };
        expect({ ...decided, doubt: undefined }).toEqual({ ...charged, doubt: undefined });
        expect(input).toBeLessThanOrEqual(promptBound);
        expect(output).toBeLessThanOrEqual(outputBound + 256);
      },
    ),
  );
});

describe('cache writes that an upstream charges and does not report', () => {
  const report = { ...counts(1_024, 10, 'reported'), cachedInputTokens: 24 };
  const decide = (reported: Usage, unreportedWrites: 'count' | 'ignore') =>
    decideUsage({ ...facts, reported, unreportedWrites }).cacheWriteTokens;

  test('are all of the prompt that was not read from the cache', () => {
    expect(decide(report, 'count')).toBe(1_000);
  });

  test('are none where the profile does not say so, of a short prompt, or beside a report', () => {
    expect(decide(report, 'ignore')).toBe(0);
    expect(decide({ ...report, inputTokens: 1_023 }, 'count')).toBe(0);
    expect(decide({ ...report, cacheWriteTokens: 7 }, 'count')).toBe(7);
  });

  test('are none of our own count', () => {
    const unreported = () => counts(1_020, 10, 'estimated');
    const own = { ...facts, unreported, reported: undefined, unreportedWrites: 'count' } as const;
    expect(decideUsage(own).cacheWriteTokens).toBe(0);
  });
});

describe('a service tier', () => {
  const used: Usage = { ...counts(20, 10, 'reported'), serviceTier: 'priority' };
  const plain = flatPrice('plain', 1n);
  const priced = {
    ...plain,
    terms: { serviceTiers: [{ name: 'priority', factor: 20_000 }] },
  };

  test('stays where one of the prices has a factor for it', () => {
    expect(withPricedTier(used, [plain, priced])).toBe(used);
  });

  test('that an answer named before it was left is that of our own count', () => {
    const { serviceTier: _, ...ordinary } = used;
    const estimated = { ...ordinary, basis: 'estimated' as const };
    expect(withNamedTier(estimated, 'flex')).toEqual({ ...estimated, serviceTier: 'flex' });
    expect(withNamedTier(ordinary, 'flex')).toBe(ordinary);
    expect(withNamedTier(estimated, undefined)).toBe(estimated);
  });

  test('is left out and doubted where none has, and an earlier doubt stays', () => {
    const { serviceTier: _, ...ordinary } = used;
    expect(withPricedTier(used, [plain])).toEqual({ ...ordinary, doubt: 'service_tier' });
    expect(withPricedTier({ ...used, doubt: 'zero' }, [plain]).doubt).toBe('zero');
    expect(withPricedTier(ordinary, [plain])).toBe(ordinary);
  });
});
