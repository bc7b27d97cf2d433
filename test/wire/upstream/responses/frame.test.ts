import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { FrameLane } from '../../../../src/wire/upstream/frame.ts';
import { LearningLane } from '../../../../src/wire/upstream/frame.ts';
import { ITEM_LANE, type ItemDelta } from '../../../../src/wire/upstream/responses/item.ts';
import { recordings } from '../../../support/golden.ts';
import { decodeReads } from './support.ts';

const encoder = new TextEncoder();
const PARSER_ONLY: FrameLane<never> = { match: () => undefined, learn: () => {} };

/** Decodes with and without the lane, and counts how often it served. */
function expectSame(text: string): number {
  const inner = new LearningLane(ITEM_LANE);
  let served = 0;
  const lane: FrameLane<ItemDelta> = {
    match(given, from, to) {
      const delta = inner.match(given, from, to);
      if (delta !== undefined) served += 1;
      return delta;
    },
    learn: (chunk, value) => inner.learn(chunk, value),
  };
  const bytes = encoder.encode(text);
  expect(decodeReads([bytes], lane)).toEqual(decodeReads([bytes], PARSER_ONLY));
  return served;
}

const TYPE = 'response.output_text.delta';

/** Events of these texts, with members before and behind them; a name makes two lines of each. */
function events(texts: readonly string[], before: object = {}, after: object = {}, name = TYPE) {
  return texts
    .map((delta, at) => {
      const number = { sequence_number: at + 8 };
      const data = { type: TYPE, ...number, output_index: 0, ...before, delta, ...after };
      return `${name === '' ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
    })
    .join('');
}

describe('the fast lane gives what the parser gives', () => {
  for (const { title, bytes } of recordings('upstream-responses', 'sse')) {
    test(title, () => {
      expectSame(new TextDecoder().decode(bytes));
    });
  }

  test('ordinary deltas take it from the second on, with any number', () => {
    const texts = ['a', ' b', 'é漢😀', 'c'];
    expect(expectSame(events(texts))).toBe(3);
    expect(expectSame(events(texts, { content_index: 0 }, { logprobs: [] }, ''))).toBe(3);
    expect(expectSame(events(texts, {}, { obfuscation: 'xyz' }))).toBe(3);
    const padded = texts.map((text, at) => events([text], {}, { obfuscation: 'x'.repeat(at) }));
    expect(expectSame(padded.join(''))).toBe(3);
    const last = events(texts).replace(
      /"sequence_number":(\d+),(.*?)\}\n/g,
      '$2,"sequence_number":$1}\n',
    );
    expect(expectSame(last)).toBe(3);
    expect(expectSame(events(texts).replaceAll('":', '": '))).toBe(3);
  });

  test('also those of thinking, and of each new item', () => {
    const kinds = ['reasoning_summary_text', 'output_text', 'reasoning_text', 'refusal'];
    const text = kinds.map((kind, item) =>
      events(['a', 'b', 'c'], { output_index: item }).replaceAll('output_text', kind),
    );
    expect(expectSame(text.join(''))).toBe(8);
    const many = Array.from({ length: 12 }, (_, output_index) =>
      events(['a', 'b'], { output_index }),
    );
    expect(expectSame(many.join(''))).toBe(12);
  });

  test('frames that fit nothing are learned only so often', () => {
    const changing = Array.from({ length: 12 }, (_, at) => events(['a'], { at }));
    expect(expectSame(changing.join('') + events(['a', 'b']))).toBe(0);
  });

  test('text that JSON has to escape does not take it, nor do events with anything else', () => {
    expect(expectSame(events(['a', '"', '\\', '\n', '\u007f', '']))).toBe(0);
    expect(expectSame(events(['a', 'b'], {}, { error: 'x' }))).toBe(0);
    expect(expectSame(events(['a', 'b'], {}, {}, 'error'))).toBe(0);
  });

  test('numbers and padding in other places, or of other forms, are not mistaken', () => {
    const one = events(['a']);
    for (const other of [
      one.replace(':8,', ':08,'),
      one.replace(':8,', ':8.5,'),
      one.replace(':8,', ':-8,'),
      one.replace(':8,', ':"8",'),
      one.replace('"sequence_number":8,', ''),
      one.replace('"delta"', '"delta":"x","delta"'),
      one.replace('"delta":"a"', '"delta":"a","output_index":1'),
    ]) {
      expectSame(one + one + other + other + one);
      expectSame(other + other + one + one);
    }
    const nested = events(['a', 'b'], { item_id: '"sequence_number":1,' });
    expectSame(nested + nested);
  });

  test('law: streams of events that nearly match', () => {
    const word = fc.constantFrom('a', 'bc', ':', 'delta', '"', '\\', '', '😀', '1', 'x');
    const shape = fc.record(
      {
        type: fc.constantFrom(
          TYPE,
          'response.refusal.delta',
          'response.reasoning_text.delta',
          'response.function_call_arguments.delta',
        ),
        sequence_number: fc.oneof(fc.nat(30), word),
        obfuscation: fc.oneof(word, fc.nat(3)),
        output_index: fc.oneof(fc.nat(2), word),
        content_index: fc.nat(1),
        item_id: word,
        error: fc.constantFrom('', null),
      },
      { requiredKeys: ['type'] },
    );
    const stream = fc.array(shape, { minLength: 1, maxLength: 3 }).chain((shapes) =>
      fc.array(fc.tuple(fc.constantFrom(...shapes), word, fc.nat(20), word, fc.boolean()), {
        maxLength: 20,
      }),
    );
    fc.assert(
      fc.property(stream, (list) => {
        const text = list.map(([given, delta, number, padding, isNamed]) => {
          const varied = {
            ...given,
            ...(typeof given.sequence_number === 'number' && { sequence_number: number }),
            ...(typeof given.obfuscation === 'string' && { obfuscation: padding }),
            delta,
          };
          const name = isNamed ? `event: ${given.type}\n` : '';
          return `${name}data: ${JSON.stringify(varied)}\n\n`;
        });
        expectSame(text.join(''));
      }),
      { numRuns: 2_000 },
    );
  });
});
