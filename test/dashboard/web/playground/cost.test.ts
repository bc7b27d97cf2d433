// The estimate that the playground shows while an answer is written.

import '../../../support/english.ts';
import { expect, test } from 'bun:test';
import type { PricingRecord } from '../../../../src/dashboard/records/model.ts';
import { costOf, estimateTokens } from '../../../../src/dashboard/web/customer/playground/cost.ts';

test('a text is about a quarter as many tokens as characters, and more without an alphabet', () => {
  expect([estimateTokens(''), estimateTokens('a'), estimateTokens('abcdefgh')]).toEqual([0, 1, 2]);
  expect(estimateTokens('größer')).toBe(2);
  expect(estimateTokens('日本語')).toBe(2);
  expect(estimateTokens('🙂🙂🙂')).toBe(2);
});

test('prices are for a million tokens', () => {
  const rates = { version: 'v', input: '0.15', cached_input: '0', cache_write: '0', output: '0.6' };
  const tokens = { input: '150000', cached_input: '0', cache_write: '0', output: '600000' };
  const pricing: PricingRecord = {
    currency: 'USD',
    unit: '1M_tokens',
    next_change_at: null,
    schedule: [],
    ...rates,
    svc_tokens: tokens,
  };
  expect(costOf(pricing, 1_000, 500)).toEqual({ tokens: 450, usd: 0.00045 });
});
