// The explanation of a request as data and as text, for every outcome.

import { describe, expect, test } from 'bun:test';
import { explanationText } from '../../src/cli/explain.ts';
import { add, micro } from '../../src/core/money.ts';
import type { RequestHistory } from '../../src/ledger/explain.ts';
import { explanation } from '../../src/operations/explanation.ts';
import { FIRST, HOLD, recorded, SETTLED, T0, TERMS, UNDER_WAY } from './stories.ts';

const facts = (story: RequestHistory) => explanation(story, TERMS);
const lines = (story: RequestHistory) => explanationText(facts(story)).split('\n');

test('everything of a request that grew, was settled and cost more than there was', () => {
  expect(lines(SETTLED)).toEqual([
    'Request req_1 of account acct_ann, key key_1',
    'Model   swift-1 requested, swift-1 served',
    'Hold    8204.5 and 8192 more, 16396.5 in all, at price price_a: 10 prompt tokens estimated, at most 32000 of output; settled',
    '        2026-11-21T08:00:00.000Z held',
    '        2026-11-21T08:00:05.000Z settled',
    'Answer  chat, streamed, 2026-11-21T08:00:00.000Z to 2026-11-21T08:00:05.000Z, completed',
    'Attempt 1: first, swift-1, 2026-11-21T08:00:00.001Z, 4999 ms, served',
    'Usage   reported: 20 input (10 of them cached, 4 written to the cache), 5000 output (7 of them reasoning)',
    '        the upstream reported {"prompt_tokens":20,"completion_tokens":5000}',
    'Price   price_a of swift-1 (requested)',
    '        input: 6 × 1 = 6',
    '        cached_input: 10 × 0.1 = 1',
    '        cache_write: 4 × 1.25 = 5',
    '        output: 5000 × 2 = 10000',
    '        total 10012, rounded half up to 10012',
    'Charged 10012; debited 10000 (0.01 USD), loss of the gateway 12; balance after it 0',
    '        settle:req_1: 10000 to operator:revenue',
    '        settle:req_1: -10000 to customer:acct_ann',
    '        loss:req_1: 12 to operator:revenue',
    '        loss:req_1: -12 to operator:loss',
    `Receipt 3 of the account, ${'ab'.repeat(32)}`,
  ]);
  expect(facts(SETTLED)).toMatchObject({
    hold: { first_amount: '8204.5', grown_by: '8192', amount: '16396.5', phase: 'settled' },
    usage: { doubt: null, reported: { prompt_tokens: 20, completion_tokens: 5_000 } },
    receipt: { sequence: 3, hash: 'ab'.repeat(32) },
  });
});

describe('a request that is in progress', () => {
  test('held', () => {
    expect(lines(UNDER_WAY).slice(2)).toEqual([
      'Hold    8204.5, at price price_a: 10 prompt tokens estimated, at most 32000 of output; held',
      '        2026-11-21T08:00:00.000Z held',
      'The request is still running; nothing is charged yet.',
    ]);
    expect(facts(UNDER_WAY)).toMatchObject({
      hold: { phase: 'held', checkpoint: null, ended_at: null },
      request: null,
      usage: null,
      booked: null,
      receipt: null,
      calculations: [],
    });
  });

  test('delivering', () => {
    const passed = { outputTokens: 4_900, reasoningTokens: 7 };
    const checkpoint = { at: T0 + 4_000, upstream: 'first', modelServed: 'swift-0', ...passed };
    const hold = { ...HOLD, phase: 'delivering' as const, checkpoint };
    expect(lines({ ...UNDER_WAY, hold })).toContain(
      '        2026-11-21T08:00:04.000Z last checkpoint: 4900 output (7 of them reasoning) of first, swift-0',
    );
    expect(facts({ ...UNDER_WAY, hold }).hold).toMatchObject({
      phase: 'delivering',
      checkpoint: {
        at: '2026-11-21T08:00:04.000Z',
        ...{ upstream: 'first', model: 'swift-0', output_tokens: 4_900, reasoning_tokens: 7 },
      },
    });
  });
});

describe('the hold', () => {
  test('began with no less than the least', () => {
    const hold = { ...HOLD, amount: add(FIRST, FIRST) };
    const dear = { ...TERMS, minimumHold: add(FIRST, FIRST) };
    expect(explanation({ ...UNDER_WAY, hold }, dear).hold).toMatchObject({
      first_amount: '16409',
      grown_by: '0',
    });
  });
});

describe('a report that was doubted', () => {
  const estimated = { usageBasis: 'estimated' as const };

  test.each([
    ['malformed', 'not charged: a count is missing or invalid'],
    ['inconsistent', 'not charged: its counts do not add up to their total'],
    [
      'implausible',
      'not charged as such: it is more than the model could have read, or was allowed to write; the larger of our count and the bound of the request is charged',
    ],
  ] as const)('%s', (usageDoubt, words) => {
    const story = recorded({ ...estimated, usageDoubt, rawUsage: '{"prompt_tokens":-1}' });
    expect(lines(story)).toContain(
      `        the upstream reported {"prompt_tokens":-1} (${usageDoubt}; ${words})`,
    );
    expect(facts(story).usage).toMatchObject({
      basis: 'estimated',
      doubt: usageDoubt,
      reported: { prompt_tokens: -1 },
    });
  });

  test('zero', () => {
    const rawUsage = '{"prompt_tokens":0,"completion_tokens":0}';
    const zeros = { inputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0 };
    const story = recorded({ ...zeros, reasoningTokens: 0, usageDoubt: 'zero', rawUsage });
    expect(lines(story)).toContain(
      `        the upstream reported ${rawUsage} (zero; charged as it is, although there was something to count)`,
    );
  });

  test('there was none', () => {
    const story = recorded({ ...estimated, rawUsage: null });
    expect(lines(story)).toContain('        there is no final report');
    expect(facts(story).usage).toMatchObject({ doubt: null, reported: null });
  });
});

test('a request that was recovered says so', () => {
  const story = recorded({
    usageBasis: 'recovered',
    outcome: 'gateway_failed',
    rawUsage: null,
    attempts: '[]',
  });
  expect(lines(story)).toContain(
    '        The gateway crashed before the request ended; these are its last known counts.',
  );
});

test('a request that no upstream answered has no price to be charged at', () => {
  const none = { inputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0 };
  const unanswered = {
    modelServed: null,
    upstream: null,
    priceVersionServed: null,
    reasoningTokens: 0,
  };
  const nothing = { charged: micro(0n), debited: micro(0n), loss: micro(0n), rawUsage: null };
  const attempts = '[{"failure":"timeout"},{}]';
  const outcome = 'upstream_failed' as const;
  const story = {
    ...recorded({ ...none, ...unanswered, ...nothing, attempts, outcome }),
    entries: [],
  };
  expect(facts(story).calculations).toEqual([]);
  expect(lines(story)).toEqual(
    expect.arrayContaining([
      'Model   swift-1 requested, none served',
      'Attempt 1: unknown upstream, unknown model, timeout',
      'Attempt 2: unknown upstream, unknown model, served',
      'Charged 0; debited 0 (0 USD), loss of the gateway 0; balance after it 0',
    ]),
  );
});
