import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type ChatProfile, DEFAULT_PROFILE } from '../../../../src/core/profile.ts';
import { PLAIN_LANE, type PlainDelta } from '../../../../src/wire/upstream/chat/delta.ts';
import { type FrameLane as Lane, LearningLane } from '../../../../src/wire/upstream/frame.ts';
import { recordings } from '../../../support/golden.ts';
import { decodeReads, profileOf } from '../support.ts';

type FrameLane = Lane<PlainDelta>;

const encoder = new TextEncoder();
const PARSER_ONLY: FrameLane = { match: () => undefined, learn: () => {} };

/** A lane that counts how often it served. */
function countingLane(): { readonly lane: FrameLane; readonly served: () => number } {
  const inner = new LearningLane(PLAIN_LANE);
  let served = 0;
  const match: FrameLane['match'] = (text, from, to) => {
    const delta = inner.match(text, from, to);
    if (delta !== undefined) served += 1;
    return delta;
  };
  return {
    lane: { match, learn: (chunk, value) => inner.learn(chunk, value) },
    served: () => served,
  };
}

function expectSame(text: string, thinkTags: ChatProfile['thinkTags'] = 'ignore'): number {
  const bytes = encoder.encode(text);
  const profile = { ...DEFAULT_PROFILE.chat, thinkTags };
  const { lane, served } = countingLane();
  expect(decodeReads([bytes], lane, profile)).toEqual(decodeReads([bytes], PARSER_ONLY, profile));
  return served();
}

function frames(deltas: readonly object[], extra: object = {}): string {
  return deltas
    .map((delta) => ({ id: 'x', ...extra, choices: [{ index: 0, delta, finish_reason: null }] }))
    .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
    .join('');
}

const content = (text: string): object => ({ content: text });

describe('the fast lane gives what the parser gives', () => {
  for (const { title, bytes } of recordings('upstream', 'sse')) {
    test(title, () => {
      const profile = profileOf(bytes);
      expect(decodeReads([bytes], undefined, profile)).toEqual(
        decodeReads([bytes], PARSER_ONLY, profile),
      );
    });
  }

  test('ordinary chunks take it, from the second on', () => {
    expect(expectSame(frames(['a', ' b', 'é漢😀', 'c'].map(content)))).toBe(3);
    expect(expectSame(frames(['a', 'b', 'c'].map(content), { usage: null }))).toBe(2);
    expect(expectSame(frames(['a', 'b'].map((text) => ({ reasoning_content: text }))))).toBe(1);
    expect(expectSame(frames(['a', 'b'].map(content)).replaceAll('":"', '": "'))).toBe(1);
  });

  test('also those whose text is looked through for think tags', () => {
    const texts = ['<think>', 'a', ' b', '</th', 'ink>', 'So', ' it', ' is'].map(content);
    expect(expectSame(frames(texts), 'split')).toBe(7);
  });

  test('text that JSON has to escape does not', () => {
    expect(expectSame(frames(['a', '"', '\\', '\n', '\u007f', ''].map(content)))).toBe(0);
  });

  test('chunks in which something else matters do not', () => {
    const texts = ['a', 'b'].map(content);
    expect(expectSame(frames(texts, { usage: { prompt_tokens: 1, completion_tokens: 1 } }))).toBe(
      0,
    );
    expect(expectSame(frames(texts, { error: 'x' }))).toBe(0);
    const both = ['a', 'b'].map((text) => ({ content: text, reasoning: 'r' }));
    expect(expectSame(frames(both))).toBe(0);
  });

  test('a finish reason on chunks of text counts each time', () => {
    const last = (text: string): string => frames([content(text)]).replace('null', '"stop"');
    const length = frames([{}]).replace('null', '"length"');
    expect(expectSame(last('a') + last('b') + length + last('c'))).toBe(0);
  });

  test('thinking behind an empty object of arguments leaves it open', () => {
    const call = { index: 0, id: 'c', function: { name: 'f', arguments: '{}' } };
    const thoughts = ['one', 'two'].map((text) => ({ reasoning_content: text }));
    expect(expectSame(frames([{ tool_calls: [call] }, ...thoughts]))).toBe(1);
  });

  test('text that also stands elsewhere in the frame is not mistaken', () => {
    const repeated = frames([content('x')]);
    expect(expectSame(repeated + repeated.replace('"id":"x"', '"id":"y"'))).toBe(0);
    const twice = '{"choices":[{"delta":{"content":"a","content":"b"}}]}';
    const other = twice.replace('"b"', '"c"');
    expectSame(`data: ${twice}\n\ndata: ${other}\n\n`);
  });

  test('streams of chunks that nearly match', () => {
    const word = fc.constantFrom(
      ...['a', 'bc', ':', 'content', '"', '\\', '', '😀', '{', 'x', 'null'],
      ...['<think>', '</th', 'ink>', '\n', ' '],
    );
    const usage = fc.constantFrom(null, { prompt_tokens: 1, completion_tokens: 1 });
    const thinkTags = fc.constantFrom<ChatProfile['thinkTags']>('ignore', 'split', 'opened');
    const delta = fc.record(
      {
        content: fc.oneof(word, fc.constant(null)),
        reasoning_content: word,
        reasoning: word,
        role: fc.constant('assistant'),
        refusal: word,
      },
      { requiredKeys: [] },
    );
    const chunk = fc.record(
      {
        id: fc.constantFrom('a', 'x'),
        content: word,
        error: fc.constantFrom(null, '', 'x'),
        choices: fc.array(
          fc.record(
            {
              index: fc.constantFrom(0, 1),
              delta,
              content: word,
              finish_reason: fc.constantFrom(null, '', 'stop'),
              message: delta,
              usage,
            },
            { requiredKeys: ['delta'] },
          ),
          { minLength: 1, maxLength: 2 },
        ),
        usage,
      },
      { requiredKeys: ['choices'] },
    );
    // Few shapes a stream, so that frames are learned and then tried on others.
    const stream = fc
      .array(chunk, { minLength: 1, maxLength: 3 })
      .chain((shapes) => fc.array(fc.tuple(fc.constantFrom(...shapes), word), { maxLength: 20 }));
    fc.assert(
      fc.property(stream, thinkTags, (chunks, mode) => {
        const text = chunks.map(([shape, text]) => {
          const [first, ...rest] = shape.choices;
          const varied = { ...first, delta: { ...first?.delta, content: text } };
          return `data: ${JSON.stringify({ ...shape, choices: [varied, ...rest] })}\n\n`;
        });
        expectSame(text.join(''), mode);
      }),
      { numRuns: 3_000 },
    );
  });
});
