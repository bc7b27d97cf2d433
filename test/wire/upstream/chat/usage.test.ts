import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Usage, UsageReport } from '../../../../src/core/generation.ts';
import { NO_USAGE } from '../../../../src/core/usage.ts';
import { readChatUsage as readUsage } from '../../../../src/wire/upstream/usage.ts';
import { decodeReads } from '../support.ts';

const BASE = { prompt_tokens: 10, completion_tokens: 5 };

function usage(members: Partial<Usage> = {}): Usage {
  return { ...NO_USAGE, inputTokens: 10, outputTokens: 5, basis: 'reported', ...members };
}

const MALFORMED: UsageReport = { basis: 'rejected', doubt: 'malformed' };
const INCONSISTENT: UsageReport = { basis: 'rejected', doubt: 'inconsistent' };

describe('what only some servers report', () => {
  test.each([
    [
      'OpenAI: written for 12 hours',
      {
        prompt_tokens_details: {
          cache_write_tokens: 6,
          cache_write_tokens_details: { ttl_30m_tokens: 2, ttl_12h_tokens: 4 },
        },
      },
      { cacheWriteTokens: 6, cacheWriteLongTokens: 4 },
    ],
    [
      'gateways to Messages upstreams: written for an hour',
      { cache_creation_input_tokens: 6, cache_creation: { ephemeral_1h_input_tokens: 6 } },
      { cacheWriteTokens: 6, cacheWriteLongTokens: 6 },
    ],
    [
      'DashScope: read by an explicit mark',
      { prompt_tokens_details: { cached_tokens: 4, cache_type: 'ephemeral' } },
      { cachedInputTokens: 4, cachedExplicitTokens: 4 },
    ],
    [
      'DashScope: an explicit mark without a hit',
      { prompt_tokens_details: { cached_tokens: 0, cache_type: 'ephemeral' } },
      {},
    ],
  ] as const)('%s', (_title, members, expected) => {
    expect(readUsage({ ...BASE, ...members })).toEqual(usage(expected));
  });

  test('more written for long than written is inconsistent', () => {
    const details = { cache_write_tokens: 3, cache_write_tokens_details: { ttl_12h_tokens: 4 } };
    expect(readUsage({ ...BASE, prompt_tokens_details: details })).toEqual(INCONSISTENT);
  });
});

describe('reported usage, as each server spells it', () => {
  test.each([
    ['no details', {}, {}],
    ['case 53: cached in the details', { prompt_tokens_details: { cached_tokens: 4 } }, [4]],
    ['case 53: prompt_cache_hit_tokens alone', { prompt_cache_hit_tokens: 4 }, [4]],
    ['case 53: cached_tokens at the top', { cached_tokens: 4 }, [4]],
    ['cache_read_input_tokens at the top', { cache_read_input_tokens: 4 }, [4]],
    [
      'OpenAI: read, written and thought, each within its whole',
      {
        total_tokens: 15,
        prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 6, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 3, accepted_prediction_tokens: 0 },
      },
      [4, 6, 3],
    ],
    [
      'DeepSeek: hit and miss are the prompt',
      { total_tokens: 15, prompt_cache_hit_tokens: 4, prompt_cache_miss_tokens: 6 },
      [4],
    ],
    ['LiteLLM: written', { prompt_tokens_details: { cache_creation_tokens: 6 } }, [0, 6]],
    ['DashScope: written', { prompt_tokens_details: { cache_creation_input_tokens: 6 } }, [0, 6]],
    ['written, at the top', { cache_creation_input_tokens: 6 }, [0, 6]],
    ['the same twice', { prompt_cache_hit_tokens: 4, cached_tokens: 4 }, [4]],
    [
      'a zero that was filled in beside a number',
      { prompt_tokens_details: { cached_tokens: 0 }, prompt_cache_hit_tokens: 4 },
      [4],
    ],
    ['vLLM: details of null', { prompt_tokens_details: null, cached_tokens: 4 }, [4]],
    ['reasoning', { completion_tokens_details: { reasoning_tokens: 3 } }, [0, 0, 3]],
    ['reasoning at the top', { reasoning_tokens: 3 }, [0, 0, 3]],
    ['llama.cpp, Ollama: a total and nothing else', { total_tokens: 15 }, {}],
    ['a total that no code keeps', { total_tokens: 0 }, {}],
  ] as const)('%s', (_title, members, parts) => {
    const [cachedInputTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0] = Array.isArray(parts)
      ? parts
      : [];
    expect(readUsage({ ...BASE, ...members })).toEqual(
      usage({ cachedInputTokens, cacheWriteTokens, reasoningTokens }),
    );
  });

  test('xAI: reasoning beside the completion, where the total says so', () => {
    const details = { completion_tokens_details: { reasoning_tokens: 9 } };
    expect(readUsage({ ...BASE, ...details, total_tokens: 24 })).toEqual(
      usage({ outputTokens: 14, reasoningTokens: 9 }),
    );
  });

  test('gateways before a Messages upstream: the cache beside the prompt, where the total says so', () => {
    const members = { cache_read_input_tokens: 90, cache_creation_input_tokens: 20 };
    expect(readUsage({ ...BASE, ...members, total_tokens: 125 })).toEqual(
      usage({ inputTokens: 120, cachedInputTokens: 90, cacheWriteTokens: 20 }),
    );
  });

  test('Gemini: thinking in the total alone', () => {
    expect(readUsage({ prompt_tokens: 20, completion_tokens: 198, total_tokens: 623 })).toEqual(
      usage({ inputTokens: 20, outputTokens: 603, reasoningTokens: 405 }),
    );
  });

  test('a reported zero is a zero', () => {
    const none = usage({ inputTokens: 0, outputTokens: 0 });
    expect(readUsage({ prompt_tokens: 0, completion_tokens: 0 })).toEqual(none);
    expect(readUsage({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 })).toEqual(none);
  });
});

describe('reports that are none', () => {
  test.each([null, undefined, 'usage', 15, [[BASE]], {}, { cost: 0.1 }, { prompt_tokens: null }])(
    '%j',
    (value) => expect(readUsage(value)).toBeUndefined(),
  );
});

describe('reports that are rejected, and why', () => {
  const insane = [-1, -0, 1.5, '10', 1e18, 1_000_000_001, Number.NaN, { n: 10 }, true];
  test.each(insane)('B-155: %p is no count, wherever it stands', (count) => {
    for (const report of [
      { ...BASE, prompt_tokens: count },
      { ...BASE, completion_tokens: count },
      { ...BASE, total_tokens: count },
      { ...BASE, cached_tokens: count },
      { ...BASE, prompt_cache_miss_tokens: count },
      { ...BASE, prompt_tokens_details: { cached_tokens: count } },
      { ...BASE, prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: count } },
      { ...BASE, completion_tokens_details: { reasoning_tokens: count } },
    ]) {
      expect(readUsage(report)).toEqual(MALFORMED);
    }
  });

  test('half a report', () => {
    expect(readUsage({ prompt_tokens: 10 })).toEqual(MALFORMED);
    expect(readUsage({ completion_tokens: 5, prompt_tokens: null })).toEqual(MALFORMED);
  });

  test.each([
    ['B-155: cached above the prompt', { cached_tokens: 11 }],
    ['cached and written above the prompt', { cached_tokens: 6, cache_creation_input_tokens: 5 }],
    ['B-155: reasoning above the completion', { reasoning_tokens: 9 }],
    ['the same, with a total that leaves no room', { reasoning_tokens: 9, total_tokens: 15 }],
    ['two spellings, two numbers', { cached_tokens: 4, prompt_cache_hit_tokens: 6 }],
    [
      'hit and miss are not the prompt',
      { prompt_cache_hit_tokens: 4, prompt_cache_miss_tokens: 7 },
    ],
    ['a total below its parts', { total_tokens: 14 }],
    ['a total above all its parts', { total_tokens: 99, reasoning_tokens: 3 }],
  ])('%s', (_title, members) => {
    expect(readUsage({ ...BASE, ...members })).toEqual(INCONSISTENT);
  });
});

test('for any report, the buckets are disjoint and make up the whole', () => {
  const count = fc.oneof(fc.nat(20), fc.integer({ min: -5, max: 40 }), fc.jsonValue());
  const report = fc.record({
    prompt_tokens: count,
    completion_tokens: count,
    total_tokens: fc.option(count, { nil: undefined }),
    cached_tokens: fc.option(count, { nil: undefined }),
    prompt_tokens_details: fc.oneof(
      fc.record({ cached_tokens: count, cache_write_tokens: count }),
      fc.jsonValue(),
    ),
    completion_tokens_details: fc.oneof(fc.record({ reasoning_tokens: count }), fc.jsonValue()),
  });
  let believed = 0;
  fc.assert(
    fc.property(report, (value) => {
      const read = readUsage(value);
      if (read === undefined || read.basis === 'rejected') return;
      believed += 1;
      const uncached = read.inputTokens - read.cachedInputTokens - read.cacheWriteTokens;
      const visible = read.outputTokens - read.reasoningTokens;
      const buckets = [uncached, read.cachedInputTokens, read.cacheWriteTokens, visible];
      buckets.push(read.reasoningTokens);
      expect(buckets.every((part) => Number.isInteger(part) && part >= 0)).toBe(true);
      const total = value.total_tokens;
      if (typeof total === 'number' && total > 0) {
        expect(buckets.reduce((sum, part) => sum + part, 0)).toBe(total);
      }
    }),
    { numRuns: 5_000 },
  );
  expect(believed).toBeGreaterThan(10);
});

describe('usage that comes more than once in a stream', () => {
  const streamOf = (...reports: readonly object[]): string =>
    [
      { choices: [{ delta: { content: 'Hi' } }] },
      ...reports.map((report) => ({ choices: [], usage: report })),
      { choices: [{ delta: {}, finish_reason: 'stop' }] },
    ]
      .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
      .join('');
  const reported = (...reports: readonly object[]) =>
    decodeReads([new TextEncoder().encode(streamOf(...reports))]).events.flatMap((event) =>
      event.kind === 'usage' ? [event] : [],
    );
  const grown = { prompt_tokens: 10, completion_tokens: 7 };
  const zeros = { prompt_tokens: 0, completion_tokens: 0 };

  test.each([
    ['B-152: it grows', [BASE, grown], grown],
    ['B-152: it shrinks, as where the first was a guess', [grown, BASE], BASE],
    ['B-152: the same again', [BASE, BASE], BASE],
    ['one that makes no sense behind one that does', [BASE, { ...BASE, total_tokens: 1 }], BASE],
    ['one that makes sense behind one that does not', [{ ...BASE, total_tokens: 1 }, BASE], BASE],
    ['zeros that were filled in behind it', [BASE, zeros], BASE],
    ['no output behind some', [BASE, { ...BASE, completion_tokens: 0 }], BASE],
    ['zeros first', [zeros, BASE], BASE],
  ])('%s: the last sane one', (_title, reports, expected) => {
    const outputTokens = expected.completion_tokens;
    expect(reported(...reports)).toEqual([
      { kind: 'usage', usage: usage({ outputTokens }), raw: JSON.stringify(expected) },
    ]);
  });

  test('B-153: none at all says nothing', () => {
    expect(reported()).toEqual([]);
  });

  test('none that makes sense: the last one, and why not', () => {
    const last = { ...BASE, total_tokens: 1 };
    expect(reported({ prompt_tokens: -1, completion_tokens: 5 }, last)).toEqual([
      { kind: 'usage', usage: INCONSISTENT, raw: JSON.stringify(last) },
    ]);
  });
});
