// The count of a streaming answer: everything delivered, once, at any time of reading.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { GenerationEvent, Usage } from '../../src/core/generation.ts';
import { type MeteredOutput, OutputMeter } from '../../src/generate/meter.ts';
import { loadTokenizer } from '../../src/generate/tokenizer.ts';

/** One token a character: a lost or doubled count shows. */
const byLength = (text: string): number => text.length;

const USAGE: Usage = {
  inputTokens: 10,
  cachedInputTokens: 4,
  cacheWriteTokens: 0,
  outputTokens: 5,
  reasoningTokens: 0,
  basis: 'reported',
};

test('thinking, text, names and arguments count; ids do not', () => {
  const meter = new OutputMeter(byLength);
  const events: GenerationEvent[] = [
    { kind: 'reasoning-delta', text: 'abc' },
    { kind: 'text-delta', text: 'defg' },
    { kind: 'tool-start', index: 0, id: 'never counted', name: 'fn' },
    { kind: 'tool-delta', index: 0, json: '{}' },
    { kind: 'finish', reason: 'stop' },
  ];
  for (const event of events) meter.push(event);
  expect(meter.estimate(7)).toEqual({
    inputTokens: 7,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 3 + 4 + 2 + 2,
    reasoningTokens: 3,
    basis: 'estimated',
  });
});

const CITATION = { start: 0, end: 0, url: 'https://example.com', title: 'a' };

test.each<[string, GenerationEvent, MeteredOutput]>([
  ['thinking', { kind: 'reasoning-delta', text: 'a' }, 'thinking'],
  ['text', { kind: 'text-delta', text: 'a' }, 'answer'],
  ['no text', { kind: 'text-delta', text: '' }, 'none'],
  ['the start of a call', { kind: 'tool-start', index: 0, id: 'a', name: 'f' }, 'answer'],
  ['an annotation', { kind: 'annotation', citation: CITATION }, 'none'],
  ['usage', { kind: 'usage', usage: USAGE }, 'none'],
  ['a finish', { kind: 'finish', reason: 'stop' }, 'none'],
])('%s alone is output of this kind: %s', (_name, event, output) => {
  const meter = new OutputMeter(byLength);
  meter.push(event);
  expect(meter.output()).toBe(output);
  meter.push({ kind: 'reasoning-delta', text: 'a' });
  expect(meter.output()).toBe(output === 'answer' ? 'answer' : 'thinking');
});

test('what the upstream said at its end is kept: usage, its own words for it, and the reason', () => {
  const meter = new OutputMeter(byLength);
  expect([meter.finish(), meter.raw()]).toEqual([undefined, undefined]);
  meter.push({ kind: 'usage', usage: USAGE, raw: '{"prompt_tokens":10}' });
  meter.push({ kind: 'finish', reason: 'length' });
  expect([meter.finish(), meter.raw()]).toEqual(['length', '{"prompt_tokens":10}']);
});

test('the last report counts, and none is none', () => {
  const meter = new OutputMeter(byLength);
  expect(meter.reported()).toBeUndefined();
  meter.push({ kind: 'usage', usage: { ...USAGE, outputTokens: 1 } });
  meter.push({ kind: 'usage', usage: USAGE });
  expect(meter.reported()).toEqual(USAGE);
});

const delta: fc.Arbitrary<GenerationEvent> = fc
  .tuple(fc.constantFrom('text', 'reasoning', 'tool'), fc.nat(3_000))
  .map(([kind, length]) => {
    const text = 'x'.repeat(length);
    if (kind === 'tool') return { kind: 'tool-delta', index: 0, json: text };
    return { kind: kind === 'text' ? 'text-delta' : 'reasoning-delta', text };
  });

test('nothing is lost or counted twice, however it is cut and however often it is asked', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(delta, fc.boolean()), { maxLength: 30 }), (steps) => {
      const meter = new OutputMeter(byLength);
      let all = 0;
      let thinking = 0;
      for (const [event, ask] of steps) {
        meter.push(event);
        const length = event.kind === 'tool-delta' ? event.json.length : lengthOf(event);
        all += length;
        if (event.kind === 'reasoning-delta') thinking += length;
        if (ask) expect(meter.estimate(0).outputTokens).toBe(all);
        expect(meter.tokens()).toBe(all);
        expect(meter.counted()).toBeLessThanOrEqual(all);
        expect(meter.atMost(0)).toBeGreaterThanOrEqual(all);
        const mark = meter.mark();
        meter.push({ kind: 'text-delta', text: 'y'.repeat(700) });
        meter.reset(mark);
      }
      expect(meter.estimate(0)).toMatchObject({ outputTokens: all, reasoningTokens: thinking });
    }),
  );
});

/** What a model writes, and what the vocabulary treats in a way of its own. */
const written = fc.constantFrom(
  ...[
    ' word',
    ' and',
    'x',
    "'s",
    ' ',
    '  ',
    '\n',
    ' \n',
    '\n\n ',
    '\t',
    ' 1234',
    '5',
    ', ',
    ' (',
    '//\n',
  ],
  ...[' über', '漢字', ' 漢', '🙂', ' 🙂', '\u00a0', ' \u3000', 'Été', ' A', 'B'],
);

test('law: where it has been asked in between, a text costs what it costs as a whole', async () => {
  const { countNow } = await loadTokenizer(() => 0);
  fc.assert(
    fc.property(fc.array(written, { maxLength: 40 }), (texts) => {
      const meter = new OutputMeter(countNow);
      for (const text of texts) {
        const most = meter.atMost(Buffer.byteLength(text));
        meter.push({ kind: 'text-delta', text });
        expect(meter.tokens()).toBeLessThanOrEqual(most);
      }
      expect(meter.tokens()).toBe(countNow(texts.join('')));
    }),
    { numRuns: 500 },
  );
});

function lengthOf(event: GenerationEvent): number {
  return 'text' in event ? event.text.length : 0;
}
