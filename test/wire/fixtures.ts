// The head and the receipt that the tests of both client formats encode.

import type { Receipt } from '../../src/core/generation.ts';
import type { AnswerHead } from '../../src/wire/format.ts';

export const HEAD: AnswerHead = {
  id: 'abc123',
  requestId: 'req_1',
  model: 'swift-1',
  createdSeconds: 1_700_000_000,
  includeUsage: true,
  showReasoning: true,
};

export function receiptWith(cachedInputTokens: number): Receipt {
  return {
    modelServed: 'swift-0',
    fallbackUsed: true,
    usage: {
      inputTokens: 100,
      cachedInputTokens,
      // Part of the prompt that was not read from a cache.
      cacheWriteTokens: 50,
      outputTokens: 20,
      reasoningTokens: 5,
      basis: 'reported',
    },
    tokensDebited: '12.5',
    costUsd: '0.0000125',
    balanceTokens: '987.5',
    outcome: 'completed',
  };
}
