// The words of a model for each depth of thinking.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { EFFORTS, type Effort, isEffort, wordsOf } from '../../src/core/effort.ts';

const rows: readonly (readonly [accepted: readonly Effort[], words: object])[] = [
  [[], { off: '', low: '', high: '', max: '' }],
  [['none'], { off: 'none', low: '', high: '', max: '' }],
  [['low', 'medium', 'high'], { off: 'low', low: 'low', high: 'high', max: 'high' }],
  [['low', 'high', 'max'], { off: 'low', low: 'low', high: 'high', max: 'max' }],
  [['high', 'max'], { off: 'high', low: 'high', high: 'high', max: 'max' }],
  [['max', 'none', 'minimal'], { off: 'none', low: 'minimal', high: 'minimal', max: 'max' }],
  [['none', 'low', 'medium'], { off: 'none', low: 'low', high: 'medium', max: 'medium' }],
];

test.each(rows)('a model of %j', (accepted, words) => {
  expect(wordsOf(accepted)).toEqual(words as never);
});

describe('laws', () => {
  const models = fc.subarray([...EFFORTS], { minLength: 1 });

  test('a depth has the nearest lower word of the model, else its lowest', () => {
    fc.assert(
      fc.property(models, (accepted) => {
        const thinking = accepted.filter((word) => word !== 'none');
        for (const depth of ['low', 'high', 'max'] as const) {
          const word = wordsOf(accepted)[depth];
          const lower = thinking.filter((each) => EFFORTS.indexOf(each) <= EFFORTS.indexOf(depth));
          expect(word).toBe(lower.at(-1) ?? thinking[0] ?? '');
        }
      }),
    );
  });

  test('off is none where the model has it, else the lowest word', () => {
    fc.assert(
      fc.property(models, (accepted) => {
        expect(wordsOf(accepted).off).toBe(accepted[0] ?? '');
      }),
    );
  });

  test('the order of the words makes no difference, and only words are words', () => {
    fc.assert(
      fc.property(models, (accepted) => {
        expect(wordsOf(accepted.toReversed())).toEqual(wordsOf(accepted));
      }),
    );
    expect([...EFFORTS, 'highest', 1, undefined].filter(isEffort)).toEqual([...EFFORTS]);
  });
});
