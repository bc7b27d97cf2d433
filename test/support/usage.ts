// Writes many usage records for code that sums or lists them, without the ledger, which would need
// a hold and a settlement for each.

import { sql } from 'drizzle-orm';
import fc from 'fast-check';
import type { Outcome } from '../../src/core/generation.ts';
import { micro, tokenCount, usdRate, ZERO } from '../../src/core/money.ts';
import { TextPacker } from '../../src/core/shape.ts';
import { endingCode } from '../../src/store/columns.ts';
import type { Database } from '../../src/store/contract.ts';
import { balances, priceVersions, requests, texts } from '../../src/store/money-tables.ts';
import type { usageRecords } from '../../src/store/money-views.ts';
import { accounts } from '../../src/store/tables.ts';
import { PRICE } from './ledger.ts';

type Row = typeof usageRecords.$inferSelect;

/** As its readers see it, with the attempts as a text; what only receipts need is made up. */
export type UsageRecord = Omit<
  Row,
  | 'number'
  | 'ending'
  | 'usdPerMillion'
  | 'sequence'
  | 'posted'
  | 'reserved'
  | 'hash'
  | 'report'
  | 'attempts'
> & { readonly attempts: string };

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
    usageDoubt: null,
    estimatedPromptTokens: tokenCount(90),
    outputBound: tokenCount(1_000),
    priceVersionRequested: 'swift-1@1',
    priceVersionServed: 'swift-1@1',
    held: micro(100n),
    charged: micro(debited + loss),
    endUser: null,
    attempts: '[]',
    failure: null,
    endedAt: startedAt + 1_000,
    ...facts,
    startedAt,
    debited: micro(debited),
    loss: micro(loss),
  };
}

export async function addRecords({ db }: Database, records: readonly UsageRecord[]): Promise<void> {
  const ofAccount = new Map<string, { readonly number: number; sequence: number }>();
  const numbers = new Map<string, number>();
  const versions = new Map<string, number>();

  async function accountOf(id: string) {
    const known = ofAccount.get(id);
    if (known !== undefined) return known;
    const email = `${id}@example.org`;
    const plan = { plan: 'pro', planSince: DAY, standing: 'active', createdAt: DAY } as const;
    await db
      .insert(accounts)
      .values({ id, email, ...plan, emailVerified: true })
      .onConflictDoNothing();
    const amounts = { posted: ZERO, held: ZERO };
    await db
      .insert(balances)
      .values({ accountId: id, ...amounts })
      .onConflictDoNothing();
    const row = await db
      .select({ number: balances.number, sequence: balances.sequence })
      .from(balances)
      .where(sql`${balances.accountId} = ${id}`)
      .get();
    const account = { number: row?.number ?? 0, sequence: row?.sequence ?? 0 };
    ofAccount.set(id, account);
    return account;
  }

  async function numberOf(text: string): Promise<number> {
    const known = numbers.get(text);
    if (known !== undefined) return known;
    await db.insert(texts).values({ text }).onConflictDoNothing();
    const isText = sql`${texts.text} = ${text}`;
    const row = await db.select({ number: texts.number }).from(texts).where(isText).get();
    numbers.set(text, row?.number ?? 0);
    return row?.number ?? 0;
  }

  async function versionOf(version: string): Promise<number> {
    const known = versions.get(version);
    if (known !== undefined) return known;
    await db
      .insert(priceVersions)
      .values({ ...PRICE, version, model: 'swift-1', firstUsedAt: DAY })
      .onConflictDoNothing();
    const isVersion = sql`${priceVersions.version} = ${version}`;
    const row = await db
      .select({ number: priceVersions.number })
      .from(priceVersions)
      .where(isVersion)
      .get();
    versions.set(version, row?.number ?? 0);
    return row?.number ?? 0;
  }

  async function packed(text: string): Promise<Uint8Array | null> {
    if (text === '[]') return null;
    let shape: string | undefined;
    const plain = new TextPacker((found) => {
      shape = found;
      return undefined;
    }).pack(text);
    if (shape === undefined) return plain;
    const number = await numberOf(shape);
    return new TextPacker(() => number).pack(text);
  }

  async function orNull<T>(name: string | null, of: (name: string) => Promise<T>) {
    return name === null ? null : of(name);
  }

  for (const record of records) {
    const account = await accountOf(record.accountId);
    account.sequence += 1;
    const { requestId, endedAt, startedAt, priceVersionServed, ...facts } = record;
    await db.insert(requests).values({
      ...facts,
      id: requestId,
      account: account.number,
      key: await numberOf(record.keyId),
      model: await numberOf(record.modelRequested),
      price: await versionOf(record.priceVersionRequested),
      promptTokens: record.estimatedPromptTokens,
      startedAt,
      durationMs: endedAt - startedAt,
      ending: endingCode(record.charged === 0n ? 'released' : 'settled', record.failure),
      upstream: await orNull(record.upstream, numberOf),
      modelServed: await orNull(record.modelServed, numberOf),
      priceServed: await orNull(priceVersionServed, versionOf),
      basis: record.usageBasis,
      doubt: record.usageDoubt,
      usdPerMillion: usdRate(1_000_000n),
      sequence: account.sequence,
      posted: ZERO,
      reserved: ZERO,
      hash: new Uint8Array(32),
      report: null,
      attempts: await packed(record.attempts),
    });
  }
  for (const { number, sequence } of ofAccount.values()) {
    await db.update(balances).set({ sequence }).where(sql`${balances.number} = ${number}`);
  }
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
  estimatedPromptTokens: fc.nat(1_000).map(tokenCount),
  debited: fc.bigInt(0n, 10n ** 12n).map(micro),
  loss: fc.constantFrom(0n, 0n, 7n).map(micro),
  endUser: fc.constantFrom(null, '', 'ann', 'ben'),
  attempts: fc.constantFrom(...ATTEMPTS),
  startedAt: fc.integer({ min: DAY - 2 * HOUR_MS, max: DAY + 50 * HOUR_MS }),
});
