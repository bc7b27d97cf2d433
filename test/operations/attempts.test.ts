// The attempts of a request as `tollgate explain` shows them, and their cost to the operator, from
// the records of this version, of older ones and of unknown ones.

import { describe, expect, test } from 'bun:test';
import { explanationText } from '../../src/cli/explain.ts';
import { micro, tokenCount, usdRate } from '../../src/core/money.ts';
import type { RequestHistory } from '../../src/ledger/explain.ts';
import { parseAttempts } from '../../src/ledger/series/attempts.ts';
import { upstreamCosts } from '../../src/operations/attempt-facts.ts';
import { explanation } from '../../src/operations/explanation.ts';

const T0 = Date.UTC(2026, 10, 21, 8);

const USAGE = {
  inputTokens: 20,
  cachedInputTokens: 10,
  cacheWriteTokens: 0,
  outputTokens: 5,
  reasoningTokens: 2,
  basis: 'reported',
};

const SILENT = {
  upstream: 'first',
  model: 'swift-1',
  upstreamModel: 'org/swift',
  credential: '2',
  startedAt: T0,
  endedAt: T0 + 310,
  firstByteMs: 12.3,
  failure: 'timeout',
  phase: 'first_content',
  detail: 'no content within 300 ms',
};
const REFUSED = {
  upstream: 'second',
  model: 'swift-1',
  upstreamModel: 'swift-1',
  startedAt: T0 + 310,
  endedAt: T0 + 310,
  failure: 'no_capacity',
  detail: 'it is left alone for a while',
};
const BROKEN = {
  upstream: 'third',
  model: 'swift-0',
  upstreamModel: 'swift-0',
  credential: '1',
  startedAt: T0 + 311,
  endedAt: T0 + 400,
  firstByteMs: 5,
  firstContentMs: 7.5,
  failure: 'server_error',
  phase: 'stream',
  status: 500,
  detail: 'the upstream reported an error in place of an answer',
  usage: { ...USAGE, basis: 'estimated' },
  cost: '0.5',
};
const SERVED = {
  upstream: 'fourth',
  model: 'swift-0',
  upstreamModel: 'swift-0',
  credential: '1',
  startedAt: T0 + 401,
  endedAt: T0 + 600,
  firstByteMs: 4,
  firstContentMs: 6,
  usage: USAGE,
  cost: '12.000001',
};

const TERMS = { usdPerMillion: usdRate(1_000_000n), minimumHold: micro(1n) };

const ENDED = {
  requestId: 'req_1',
  accountId: 'acct_ann',
  keyId: 'key_1',
} as const;

/** A request with these attempts that was charged 20 service tokens. */
function storyOf(attempts: unknown): RequestHistory {
  return {
    hold: {
      ...ENDED,
      model: 'swift-1',
      priceVersion: 'price_a',
      amount: micro(20_000_000n),
      promptTokens: tokenCount(20),
      outputBound: tokenCount(10),
      startedAt: T0,
      phase: 'settled',
      checkpoint: undefined,
      endedAt: T0 + 600,
    },
    record: {
      ...ENDED,
      number: 1,
      format: 'chat',
      ...USAGE,
      stream: true,
      modelRequested: 'swift-1',
      modelServed: 'swift-0',
      upstream: 'fourth',
      outcome: 'completed',
      ending: 'settled',
      usageBasis: 'reported',
      rawUsage: null,
      usageDoubt: null,
      details: {},
      estimatedPromptTokens: tokenCount(20),
      outputBound: tokenCount(10),
      priceVersionRequested: 'price_a',
      priceVersionServed: 'price_a',
      held: micro(20_000_000n),
      charged: micro(20_000_000n),
      debited: micro(20_000_000n),
      loss: micro(0n),
      endUser: null,
      attempts: JSON.stringify(attempts),
      failure: null,
      startedAt: T0,
      endedAt: T0 + 600,
      usdPerMillion: TERMS.usdPerMillion,
      sequence: 1,
      posted: micro(0n),
      reserved: micro(0n),
    },
    entries: [],
    prices: [],
    receipt: undefined,
  };
}

/** The lines about attempts and their costs. */
function linesOf(attempts: unknown): string[] {
  const lines = explanationText(explanation(storyOf(attempts), TERMS)).split('\n');
  const from = lines.findIndex((line) => line.startsWith('Attempt'));
  const to = lines.findIndex((line) => line.startsWith('Usage'));
  return [...lines.slice(from, to), ...lines.filter((line) => line.startsWith('Cost'))];
}

test('in words: who, when, how it ended, what came when, what it used and what that costs', () => {
  expect(linesOf([SILENT, REFUSED, BROKEN, SERVED])).toEqual([
    'Attempt 1: first, swift-1, 2026-11-21T08:00:00.000Z, 310 ms, timeout (first_content): no content within 300 ms',
    '        as org/swift, credential 2; first byte after 12.3 ms',
    'Attempt 2: second, swift-1, 2026-11-21T08:00:00.310Z, 0 ms, no_capacity: it is left alone for a while',
    'Attempt 3: third, swift-0, 2026-11-21T08:00:00.311Z, 89 ms, server_error (stream): the upstream reported an error in place of an answer',
    '        credential 1; first byte after 5 ms, content after 7.5 ms; 20 input and 5 output estimated, costs 0.5',
    'Attempt 4: fourth, swift-0, 2026-11-21T08:00:00.401Z, 199 ms, served',
    '        credential 1; first byte after 4 ms, content after 6 ms; 20 input and 5 output reported, costs 12.000001',
    'Cost    12.500001 of the upstreams; margin 7.499999',
  ]);
});

test('as data', () => {
  const facts = explanation(storyOf([SILENT, SERVED]), TERMS);
  const nothing = { usage: null, cost: null, first_content_ms: null };
  expect(facts.attempts).toEqual([
    {
      upstream: 'first',
      model: 'swift-1',
      upstream_model: 'org/swift',
      credential: '2',
      started_at: '2026-11-21T08:00:00.000Z',
      duration_ms: 310,
      first_byte_ms: 12.3,
      failure: 'timeout',
      phase: 'first_content',
      status: null,
      detail: 'no content within 300 ms',
      said: null,
      ...nothing,
    },
    {
      upstream: 'fourth',
      model: 'swift-0',
      upstream_model: 'swift-0',
      credential: '1',
      started_at: '2026-11-21T08:00:00.401Z',
      duration_ms: 199,
      first_byte_ms: 4,
      first_content_ms: 6,
      failure: null,
      phase: null,
      status: null,
      detail: null,
      said: null,
      usage: {
        basis: 'reported',
        input_tokens: 20,
        cached_input_tokens: 10,
        cache_write_tokens: 0,
        output_tokens: 5,
        reasoning_tokens: 2,
      },
      cost: '12.000001',
    },
  ]);
  expect(facts.upstream_costs).toEqual({ total: '12.000001', complete: true, margin: '7.999999' });
});

describe('what the operator pays', () => {
  const costs = (...attempts: unknown[]) =>
    upstreamCosts(parseAttempts(JSON.stringify(attempts)), micro(1_000_000n));

  test.each([
    ['no cost was reported', [{ ...SERVED, cost: undefined }, SILENT], null],
    [
      'more than was charged',
      [SERVED],
      { total: '12.000001', complete: true, margin: '-11.000001' },
    ],
    [
      'one of two did not say',
      [{ ...BROKEN, cost: undefined }, SERVED],
      { total: '12.000001', complete: false, margin: null },
    ],
    [
      'nothing was delivered by the other',
      [SILENT, BROKEN],
      { total: '0.5', complete: true, margin: '0.5' },
    ],
    ['no amount', [{ ...SERVED, cost: 'much' }], { total: '0', complete: false, margin: null }],
    ['no attempt at all', [], null],
  ] as const)('%s', (_, attempts, expected) => {
    expect(costs(...attempts)).toEqual(expected);
  });

  test('an unknown cost is said', () => {
    expect(linesOf([{ ...BROKEN, cost: undefined }, SERVED]).at(-1)).toBe(
      'Cost    12.000001 of the upstreams; and what upstreams without a cost in the catalog ask',
    );
  });
});

test.each([
  ['none', 'null', []],
  ['no list', '{}', []],
  ['no objects', '[1, null, "x"]', []],
])('a record with %s of them is read as it is', (_, text, expected) => {
  expect(parseAttempts(text)).toEqual(expected);
});

test('a record of an older program has one line for each', () => {
  const { upstream, model, startedAt, endedAt, failure } = SILENT;
  expect(linesOf([{ upstream, model, startedAt, endedAt, failure }, { usage: {} }])).toEqual([
    'Attempt 1: first, swift-1, 2026-11-21T08:00:00.000Z, 310 ms, timeout',
    'Attempt 2: unknown upstream, unknown model, served',
    '        0 input and 0 output unknown',
  ]);
});
