// Usage records by the handful, for whatever adds them up or lists them: written past the ledger,
// which would need a hold and a settle for each.

import fc from 'fast-check';
import type { Outcome } from '../../src/core/generation.ts';
import { micro } from '../../src/core/money.ts';
import type { Database } from '../../src/store/contract.ts';
import { usageRecords } from '../../src/store/money-tables.ts';

export type UsageRecord = typeof usageRecords.$inferInsert;

/** The beginning of a UTC day. */
export const DAY = Date.UTC(2026, 9, 5);
export const HOUR_MS = 3_600_000;

let made = 0;

/** A record like any other; `facts` say what matters to the test. */
export function usageRecord(facts: Partial<UsageRecord> = {}): UsageRecord {
  made += 1;
  const startedAt = facts.startedAt ?? DAY;
  const debited = facts.debited ?? 10n;
  const loss = facts.loss ?? 0n;
  return {
    requestId: `req_${String(made).padStart(24, '0')}`,
    accountId: 'acct_ada',
    keyId: 'key_1',
    format: 'chat',
    stream: true,
    modelRequested: 'swift-1',
    modelServed: 'swift-1',
    upstream: 'demo',
    outcome: 'completed',
    inputTokens: 100,
    cachedInputTokens: 40,
    cacheWriteTokens: 0,
    outputTokens: 20,
    reasoningTokens: 5,
    usageBasis: 'reported',
    rawUsage: null,
    usageDoubt: null,
    estimatedPromptTokens: 90,
    priceVersionRequested: 'swift-1@1',
    priceVersionServed: 'swift-1@1',
    held: micro(100n),
    charged: micro(debited + loss),
    endUser: null,
    attempts: '[]',
    endedAt: startedAt + 1_000,
    ...facts,
    startedAt,
    debited: micro(debited),
    loss: micro(loss),
  };
}

export async function addRecords({ db }: Database, records: readonly UsageRecord[]): Promise<void> {
  for (const record of records) await db.insert(usageRecords).values(record).run();
}

const OUTCOMES: readonly Outcome[] = [
  'completed',
  'stopped_balance',
  'client_cancelled',
  'upstream_failed',
  'gateway_failed',
];

const ATTEMPTS = [
  '[]',
  '[{"upstream":"a","usage":{"inputTokens":1},"cost":"0.000004"}]',
  '[{"upstream":"a","usage":{"inputTokens":1}},{"upstream":"b","usage":{},"cost":"2.5"}]',
  '[{"upstream":"a","failure":"timeout"},{"upstream":"b","usage":{},"cost":"1"}]',
  '[{"upstream":"a","usage":{}}]',
];

/** What records differ in, over three days, few accounts, models, keys and end users. */
export const someUsage: fc.Arbitrary<Partial<UsageRecord>> = fc.record({
  accountId: fc.constantFrom('acct_ada', 'acct_bob'),
  keyId: fc.constantFrom('key_1', 'key_2'),
  modelRequested: fc.constantFrom('swift-1', 'deep-1'),
  modelServed: fc.constantFrom('swift-1', 'swift-0', null),
  outcome: fc.constantFrom(...OUTCOMES),
  inputTokens: fc.nat(1_000),
  cachedInputTokens: fc.nat(100),
  outputTokens: fc.nat(1_000),
  reasoningTokens: fc.nat(100),
  estimatedPromptTokens: fc.nat(1_000),
  debited: fc.bigInt(0n, 10n ** 12n).map(micro),
  loss: fc.constantFrom(0n, 0n, 7n).map(micro),
  endUser: fc.constantFrom(null, '', 'ann', 'ben'),
  attempts: fc.constantFrom(...ATTEMPTS),
  startedAt: fc.integer({ min: DAY - 2 * HOUR_MS, max: DAY + 50 * HOUR_MS }),
});
