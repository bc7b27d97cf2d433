// The counts of a Messages answer: which events are charged, and which are implausible.

import { describe, expect, test } from 'bun:test';
import type { Usage, UsageReport } from '../../../../src/core/generation.ts';
import { createUsageReader } from '../../../../src/wire/upstream/messages/usage.ts';

const START = { input_tokens: 6, cache_creation_input_tokens: 0, cache_read_input_tokens: 4 };

/** The report of a stream that begins with one usage object and goes on with others. */
function reported(start: unknown, ...later: readonly unknown[]) {
  const reader = createUsageReader();
  reader.readStart(start);
  for (const value of later) reader.read(value);
  return reader.report();
}

function usage(members: Partial<Usage> = {}): Usage {
  return {
    inputTokens: 10,
    cachedInputTokens: 4,
    cacheWriteTokens: 0,
    outputTokens: 5,
    reasoningTokens: 0,
    basis: 'reported',
    ...members,
  };
}

const rejected = (doubt: 'malformed' | 'inconsistent'): UsageReport => ({
  basis: 'rejected',
  doubt,
});

describe('what is charged', () => {
  test.each([
    ['the prompt at the start, the output at the end', [START, { output_tokens: 5 }], {}],
    [
      'the count at the start is none of the output',
      [{ ...START, output_tokens: 99 }, { output_tokens: 5 }],
      {},
    ],
    ['B-152: it grows', [START, { output_tokens: 1 }, { output_tokens: 5 }], {}],
    ['B-152: it shrinks', [START, { output_tokens: 50 }, { output_tokens: 5 }], {}],
    [
      'zeros that were filled in behind it',
      [START, { output_tokens: 5 }, { input_tokens: 0, output_tokens: 0 }],
      {},
    ],
    ['the prompt is known at the start alone', [START, { input_tokens: 0, output_tokens: 5 }], {}],
    ['nulls say nothing', [START, { input_tokens: null, output_tokens: 5 }], {}],
    [
      'a report that makes no sense behind one that does',
      [START, { output_tokens: 5 }, { output_tokens: -5 }],
      {},
    ],
    ['a zero is a zero', [START, { output_tokens: 0 }], { outputTokens: 0 }],
    [
      'thinking is part of the output',
      [START, { output_tokens: 5, output_tokens_details: { thinking_tokens: 3 } }],
      { reasoningTokens: 3 },
    ],
    [
      'written for five minutes and for an hour',
      [
        {
          ...START,
          cache_creation_input_tokens: 9,
          cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 7 },
        },
        { output_tokens: 5 },
      ],
      { inputTokens: 19, cacheWriteTokens: 9, cacheWriteLongTokens: 7 },
    ],
    [
      'what was written, reported by its parts alone',
      [
        {
          input_tokens: 6,
          cache_read_input_tokens: 4,
          cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 7 },
        },
        { output_tokens: 5 },
      ],
      { inputTokens: 19, cacheWriteTokens: 9, cacheWriteLongTokens: 7 },
    ],
    [
      'parts of zero that were filled in',
      [
        {
          ...START,
          cache_creation_input_tokens: 9,
          cache_creation: { ephemeral_5m_input_tokens: 0 },
        },
        { output_tokens: 5 },
      ],
      { inputTokens: 19, cacheWriteTokens: 9 },
    ],
  ])('%s', (_title, [start, ...later], members) => {
    expect(reported(start, ...later)?.usage).toEqual(usage(members));
  });
});

describe('what is not', () => {
  test('B-153: nothing was reported', () => {
    expect(reported(undefined, null, 'usage', [START])).toBeUndefined();
    expect(reported({ input_tokens: null }, {})).toBeUndefined();
  });

  test('a report that is never complete', () => {
    expect(reported(START)?.usage).toEqual(rejected('malformed'));
    expect(reported(undefined, { output_tokens: 5 })?.usage).toEqual(rejected('malformed'));
  });

  test.each([-1, -0, 1.5, '10', 1e18, Number.NaN, { n: 10 }, true])(
    'B-155: %p is no count',
    (count) => {
      for (const report of [
        reported({ ...START, input_tokens: count }, { output_tokens: 5 }),
        reported({ ...START, cache_read_input_tokens: count }, { output_tokens: 5 }),
        reported(
          { ...START, cache_creation: { ephemeral_1h_input_tokens: count } },
          { output_tokens: 5 },
        ),
        reported(START, { output_tokens: count }),
        reported(START, { output_tokens: 5, output_tokens_details: { thinking_tokens: count } }),
      ]) {
        expect(report?.usage).toEqual(rejected('malformed'));
      }
    },
  );

  test('B-155: parts that do not make up their whole', () => {
    const written = {
      cache_creation_input_tokens: 9,
      cache_creation: { ephemeral_5m_input_tokens: 8 },
    };
    expect(reported({ ...START, ...written }, { output_tokens: 5 })?.usage).toEqual(
      rejected('inconsistent'),
    );
    const thinking = { output_tokens: 5, output_tokens_details: { thinking_tokens: 6 } };
    expect(reported(START, thinking)?.usage).toEqual(rejected('inconsistent'));
  });
});

describe('what is kept of it', () => {
  test('the last state of every count, and no word', () => {
    const start = { ...START, service_tier: 'SECRET', output_tokens: 1 };
    const kept = reported(start, { output_tokens: 3 }, { input_tokens: 0, output_tokens: 5 })?.raw;
    expect(kept).toBe(JSON.stringify({ ...START, output_tokens: 5 }));
  });

  test('what was refused, as it was', () => {
    expect(reported(START, { output_tokens: -5 })?.raw).toBe(
      JSON.stringify({ ...START, output_tokens: -5 }),
    );
  });

  test('no more than its bound, however many events come', () => {
    const reader = createUsageReader();
    for (let index = 0; index < 2_000; index += 1)
      reader.read({ [`count_${index}`]: 1, ...START, output_tokens: 5 });
    expect(reader.report()?.usage).toEqual(usage());
    expect(reader.report()?.raw.length).toBeLessThanOrEqual(1_024);
  });
});
