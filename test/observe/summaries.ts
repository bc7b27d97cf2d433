// Two requests as operators see them, for the tests of log and metrics.

import { micro } from '../../src/core/money.ts';
import type { AnswerSummary, RequestSummary } from '../../src/core/request-summary.ts';

export const ANSWER: AnswerSummary = {
  modelServed: 'swift-0',
  upstream: 'beta',
  fallbackUsed: true,
  outcome: 'completed',
  usage: {
    inputTokens: 100,
    cachedInputTokens: 60,
    cacheWriteTokens: 10,
    outputTokens: 20,
    reasoningTokens: 5,
    basis: 'reported',
  },
  promptTokens: 90,
  debited: micro(1_500_000n),
  loss: micro(0n),
  attempts: [
    {
      upstream: 'alpha',
      model: 'swift-1',
      credential: '1',
      failure: 'timeout',
      startedAt: 1_000,
      endedAt: 1_100,
    },
    {
      upstream: 'gamma',
      model: 'swift-1',
      failure: 'overloaded',
      startedAt: 1_100,
      endedAt: 1_100,
    },
    {
      upstream: 'beta',
      model: 'swift-0',
      credential: '2',
      startedAt: 1_100,
      endedAt: 2_234,
      firstByteMs: 40.25,
      firstContentMs: 50,
      cost: '0.75',
    },
  ],
};

export const SERVED: RequestSummary = {
  requestId: 'req_served',
  route: 'messages',
  format: 'messages',
  status: 200,
  accountId: 'acct_ada',
  keyId: 'key_1',
  model: 'swift-1',
  stream: true,
  durationMs: 1_234.567,
  answer: ANSWER,
};

export const REFUSED: RequestSummary = {
  requestId: 'req_refused',
  route: 'chat_completions',
  format: 'chat',
  status: 401,
  code: 'invalid_api_key',
  durationMs: 0.5,
};
