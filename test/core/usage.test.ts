// Which counts are charged: the upstream's report while it makes sense, our own otherwise.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Usage } from '../../src/core/generation.ts';
import { decideUsage } from '../../src/core/usage.ts';

function counts(inputTokens: number, outputTokens: number, basis: Usage['basis']): Usage {
  return {
    inputTokens,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    outputTokens,
    reasoningTokens: 0,
    basis,
  };
}

const own = counts(20, 10, 'estimated');
const facts = { contextWindow: 1_000, outputBound: 100, estimate: () => own };

function decided(input: number, output: number): Usage {
  return decideUsage({ ...facts, reported: counts(input, output, 'reported') });
}

describe('a report is believed', () => {
  test.each([
    ['within the window and the bound', 1_000, 100],
    ['above the window, but within ten times our count and 1,000', 1_200, 100],
  ])('%s', (_name, input, output) => {
    expect(decided(input, output)).toEqual(counts(input, output, 'reported'));
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

describe('B-154: a zero is a zero, and the operator is told where it gives something away', () => {
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

describe('a report is not believed', () => {
  test.each([
    ['prompt above the window and far above our count', 1_201, 100],
    ['output far above the bound, whatever our count is', 1_000, 357],
    ['a billion', 1_000_000_000, 1_000_000_000],
  ])('%s', (_name, input, output) => {
    expect(decided(input, output)).toEqual({ ...own, doubt: 'implausible' });
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

test('the bound is one on what is charged, also where nobody reported', () => {
  const estimate = () => ({ ...counts(20, 5_000, 'estimated'), reasoningTokens: 300 });
  const bounded = { ...counts(20, 100, 'estimated'), reasoningTokens: 100 };
  expect(decideUsage({ ...facts, estimate, reported: undefined })).toEqual(bounded);
  const reported = counts(20, 5_000, 'reported');
  const implausible = { ...bounded, doubt: 'implausible' as const };
  expect(decideUsage({ ...facts, estimate, reported })).toEqual(implausible);
});

test('what is charged is the report or our count, and never beyond what the model could have done', () => {
  const nat = fc.nat(10_000_000);
  fc.assert(
    fc.property(nat, nat, nat, nat, fc.nat(200_000), fc.nat(32_000), (...numbers) => {
      const [input, output, ownInput, ownOutput, contextWindow, outputBound] = numbers;
      const reported = counts(input, output, 'reported');
      const estimate = () => counts(ownInput, ownOutput, 'estimated');
      const decided = decideUsage({ reported, estimate, contextWindow, outputBound });
      if (decided.basis === 'estimated') {
        const bounded = counts(ownInput, Math.min(ownOutput, outputBound), 'estimated');
        expect(decided).toEqual({ ...bounded, doubt: 'implausible' });
        return;
      }
      const charged = { ...reported, outputTokens: Math.min(output, outputBound) };
      expect({ ...decided, doubt: undefined }).toEqual({ ...charged, doubt: undefined });
      expect(input).toBeLessThanOrEqual(Math.max(contextWindow, ownInput * 10 + 1_000));
      expect(output).toBeLessThanOrEqual(outputBound + 256);
    }),
  );
});
