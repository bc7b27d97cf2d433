// Ledger records of a request, in each of its states.

import { add, micro, pico, tokenCount, usdRate } from '../../src/core/money.ts';
import type { RequestHistory } from '../../src/ledger/explain.ts';

export const T0 = Date.UTC(2026, 10, 21, 8);
const ACCOUNT = 'acct_ann';
export const TERMS = { minimumHold: micro(1_000_000n) };

export const PRICE: RequestHistory['prices'][number] = {
  number: 1,
  version: 'price_a',
  model: 'swift-1',
  input: pico(10n ** 12n),
  cachedInput: pico(10n ** 11n),
  cacheWrite: pico(125n * 10n ** 10n),
  output: pico(2n * 10n ** 12n),
  firstUsedAt: T0,
  terms: null,
};

/** 4,096 tokens of output and ten of the prompt, at most 1.25 each. */
export const FIRST = micro(8_204_500_000n);

export const HOLD: RequestHistory['hold'] = {
  requestId: 'req_1',
  accountId: ACCOUNT,
  keyId: 'key_1',
  model: 'swift-1',
  priceVersion: PRICE.version,
  amount: FIRST,
  promptTokens: tokenCount(10),
  outputBound: tokenCount(32_000),
  startedAt: T0,
  phase: 'held',
  checkpoint: undefined,
  endedAt: null,
};

export const UNDER_WAY: RequestHistory = {
  hold: HOLD,
  record: undefined,
  entries: [],
  prices: [PRICE],
  receipt: undefined,
};

const RECORD: NonNullable<RequestHistory['record']> = {
  number: 1,
  requestId: 'req_1',
  accountId: ACCOUNT,
  keyId: 'key_1',
  format: 'chat',
  stream: true,
  modelRequested: 'swift-1',
  modelServed: 'swift-1',
  upstream: 'first',
  outcome: 'completed',
  ending: 'settled',
  inputTokens: 20,
  cachedInputTokens: 10,
  cacheWriteTokens: 4,
  outputTokens: 5_000,
  reasoningTokens: 7,
  usageBasis: 'reported',
  rawUsage: '{"prompt_tokens":20,"completion_tokens":5000}',
  usageDoubt: null,
  details: {},
  estimatedPromptTokens: tokenCount(10),
  outputBound: tokenCount(32_000),
  priceVersionRequested: PRICE.version,
  priceVersionServed: PRICE.version,
  held: add(FIRST, micro(8_192_000_000n)),
  charged: micro(10_012_000_000n),
  debited: micro(10_000_000_000n),
  loss: micro(12_000_000n),
  endUser: null,
  attempts: `[{"upstream":"first","model":"swift-1","startedAt":${T0 + 1},"endedAt":${T0 + 5_000}}]`,
  failure: null,
  startedAt: T0,
  endedAt: T0 + 5_000,
  usdPerMillion: usdRate(1_000_000n),
  sequence: 3,
  posted: micro(0n),
  reserved: micro(0n),
};

const leg = (kind: 'settle' | 'loss', ledgerAccount: string, units: bigint) => {
  const amount = micro(units);
  return {
    ...{ requestId: 'req_1', transferId: null, ledgerAccount, amount, kind },
    ...{ at: T0 + 5_000, reason: null },
  };
};

export const SETTLED: RequestHistory = {
  hold: { ...HOLD, amount: RECORD.held, phase: 'settled', endedAt: T0 + 5_000 },
  record: RECORD,
  entries: [
    leg('settle', 'operator:revenue', 10_000_000_000n),
    leg('settle', `customer:${ACCOUNT}`, -10_000_000_000n),
    leg('loss', 'operator:revenue', 12_000_000n),
    leg('loss', 'operator:loss', -12_000_000n),
  ],
  prices: [PRICE],
  receipt: { sequence: 3, hash: 'ab'.repeat(32) },
};

/** The settled story with another record. */
export function recorded(members: Partial<typeof RECORD>): RequestHistory {
  return { ...SETTLED, record: { ...RECORD, ...members } };
}
