// Stop sequences that the gateway itself cuts at: which ones, and that the cut is where the text
// says, however an upstream splits it into deltas.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { splitStops } from '../../src/core/stop.ts';

describe('which stop sequences an upstream is told', () => {
  const of = (stopMax: number, blankStop: 'send' | 'hold', stop: string[]) =>
    splitStops(stop, { stopMax, blankStop });

  test('all of them where it takes as many', () => {
    expect(of(4, 'send', [])).toEqual({ sent: [], cut: [] });
    expect(of(4, 'send', ['a', '\n', 'b', 'c'])).toEqual({ sent: ['a', '\n', 'b', 'c'], cut: [] });
  });

  test('the first ones where it takes fewer', () => {
    expect(of(2, 'send', ['d', 'c', 'b', 'a'])).toEqual({ sent: ['d', 'c'], cut: ['b', 'a'] });
    expect(of(0, 'send', ['a'])).toEqual({ sent: [], cut: ['a'] });
  });

  test('none of white space where it refuses those, and they take nobody else’s place', () => {
    expect(of(2, 'hold', ['\n\n', 'a', ' \t', 'b', 'c', ' d '])).toEqual({
      sent: ['a', 'b'],
      cut: ['\n\n', ' \t', 'c', ' d '],
    });
  });

  test('each once', () => {
    expect(of(2, 'send', ['a', 'a', 'b', 'a', 'c', 'c'])).toEqual({ sent: ['a', 'b'], cut: ['c'] });
  });

  test('every sequence is told or cut, and never both', () => {
    const stops = fc.array(
      fc.string({ minLength: 1, maxLength: 3, unit: fc.constantFrom(...'ab \n') }),
    );
    fc.assert(
      fc.property(
        stops,
        fc.nat(16),
        fc.constantFrom('send', 'hold'),
        (stop, stopMax, blankStop) => {
          const { sent, cut } = splitStops(stop, { stopMax, blankStop });
          expect([...sent, ...cut].sort()).toEqual([...new Set(stop)].sort());
          expect(sent.length).toBeLessThanOrEqual(stopMax);
        },
      ),
    );
  });
});
