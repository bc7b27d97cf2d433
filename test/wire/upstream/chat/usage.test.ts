import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { readUsage } from '../../../../src/wire/upstream/chat/usage.ts';

const BASE = { prompt_tokens: 10, completion_tokens: 5 };

function usage(cachedInputTokens: number, reasoningTokens: number) {
  return {
    inputTokens: 10,
    cachedInputTokens,
    cacheWriteTokens: 0,
    outputTokens: 5,
    reasoningTokens,
    basis: 'reported' as const,
  };
}

describe('reported usage', () => {
  const sane: readonly (readonly [
    title: string,
    members: object,
    cached: number,
    reasoning: number,
  ])[] = [
    ['no details', {}, 0, 0],
    ['case 53: cached in the details', { prompt_tokens_details: { cached_tokens: 4 } }, 4, 0],
    ['case 53: prompt_cache_hit_tokens alone', { prompt_cache_hit_tokens: 4 }, 4, 0],
    ['case 53: cached_tokens at the top', { cached_tokens: 4 }, 4, 0],
    [
      'the first of the three counts, a zero too',
      { prompt_tokens_details: { cached_tokens: 0 }, cached_tokens: 4 },
      0,
      0,
    ],
    ['details of null', { prompt_tokens_details: null, cached_tokens: 4 }, 4, 0],
    ['case 53: cached above the prompt', { cached_tokens: 11 }, 10, 0],
    ['a negative cached count', { cached_tokens: -1 }, 0, 0],
    ['reasoning', { completion_tokens_details: { reasoning_tokens: 3 } }, 0, 3],
    [
      'reasoning above the completion',
      { completion_tokens_details: { reasoning_tokens: 9 } },
      0,
      5,
    ],
  ];
  for (const [title, members, cached, reasoning] of sane) {
    test(title, () => expect(readUsage({ ...BASE, ...members })).toEqual(usage(cached, reasoning)));
  }

  test('reasoning beside the completion is output too, where the total says that it is beside', () => {
    const details = { completion_tokens_details: { reasoning_tokens: 9 } };
    expect(readUsage({ ...BASE, ...details, total_tokens: 24 })).toEqual({
      ...usage(0, 9),
      outputTokens: 14,
    });
    expect(readUsage({ ...BASE, ...details, total_tokens: 15 })).toEqual(usage(0, 5));
    const most = { completion_tokens: 1_000_000_000, total_tokens: 1_000_000_019 };
    expect(readUsage({ ...BASE, ...details, ...most })).toBeUndefined();
  });

  test('a reported zero is a zero', () => {
    expect(readUsage({ prompt_tokens: 0, completion_tokens: 0 })).toMatchObject({
      inputTokens: 0,
      outputTokens: 0,
    });
  });

  test('counts that make no sense are no report at all', () => {
    const insane = [-1, -0, 1.5, '10', 1e18, 1_000_000_001, null, undefined, Number.NaN, [10]];
    for (const count of insane) {
      expect(readUsage({ ...BASE, prompt_tokens: count })).toBeUndefined();
      expect(readUsage({ ...BASE, completion_tokens: count })).toBeUndefined();
    }
    for (const value of [null, undefined, 'usage', 15, [BASE]]) {
      expect(readUsage(value)).toBeUndefined();
    }
  });

  test('whatever is reported, the parts lie within the wholes', () => {
    const count = fc.oneof(fc.integer({ min: -5, max: 20 }), fc.jsonValue());
    const report = fc.record({
      prompt_tokens: count,
      completion_tokens: count,
      cached_tokens: count,
      prompt_tokens_details: fc.oneof(fc.record({ cached_tokens: count }), fc.jsonValue()),
      completion_tokens_details: fc.oneof(fc.record({ reasoning_tokens: count }), fc.jsonValue()),
    });
    fc.assert(
      fc.property(report, (value) => {
        const read = readUsage(value);
        if (read === undefined) return;
        const { inputTokens, cachedInputTokens, outputTokens, reasoningTokens } = read;
        const parts = [cachedInputTokens, inputTokens - cachedInputTokens];
        parts.push(reasoningTokens, outputTokens - reasoningTokens);
        expect(parts.every((part) => Number.isInteger(part) && part >= 0)).toBe(true);
      }),
    );
  });
});
