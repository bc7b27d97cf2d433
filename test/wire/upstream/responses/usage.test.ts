// The token counts of a Responses answer.

import { describe, expect, test } from 'bun:test';
import { readResponsesUsage as readUsage } from '../../../../src/wire/upstream/usage.ts';
import { USAGE } from './support.ts';

const COUNTS = {
  inputTokens: 20,
  cachedInputTokens: 5,
  cacheWriteTokens: 4,
  outputTokens: 10,
  reasoningTokens: 3,
  basis: 'reported',
};

describe('usage', () => {
  test('every count', () => {
    expect<unknown>(readUsage(USAGE)).toEqual(COUNTS);
  });

  test('without details and without a total', () => {
    expect<unknown>(readUsage({ input_tokens: 20, output_tokens: 10 })).toEqual({
      ...COUNTS,
      cachedInputTokens: 0,
      cacheWriteTokens: 0,
      reasoningTokens: 0,
    });
  });

  test('the total shows what the counts leave out', () => {
    const cached = { cached_tokens: 80, cache_write_tokens: 0 };
    const outside = { ...USAGE, input_tokens_details: cached, total_tokens: 110 };
    expect<unknown>(readUsage(outside)).toMatchObject({ inputTokens: 100, cachedInputTokens: 80 });
    expect<unknown>(readUsage({ ...USAGE, total_tokens: 33 })).toMatchObject({ outputTokens: 13 });
  });

  test.each([
    ['nothing', undefined],
    ['null', null],
    ['an empty object', {}],
    ['nulls', { input_tokens: null, output_tokens: null }],
  ])('%s is no report', (_, value) => {
    expect<unknown>(readUsage(value)).toBeUndefined();
  });

  test.each([
    ['malformed', { ...USAGE, input_tokens: -1 }],
    ['malformed', { ...USAGE, output_tokens: 1.5 }],
    ['malformed', { ...USAGE, output_tokens: null }],
    ['malformed', { ...USAGE, input_tokens_details: { cached_tokens: '5' } }],
    ['inconsistent', { ...USAGE, total_tokens: 77 }],
    ['inconsistent', { ...USAGE, input_tokens_details: { cached_tokens: 21 } }],
    ['inconsistent', { ...USAGE, output_tokens_details: { reasoning_tokens: 11 } }],
  ] as const)('%s: %j', (doubt, value) => {
    expect<unknown>(readUsage(value)).toEqual({ basis: 'rejected', doubt });
  });
});
