import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { editDistance, nearest } from '../../src/core/nearest.ts';

describe('nearest', () => {
  test('finds a misspelled name, and lets short names differ less than long ones', () => {
    const names = ['HOST', 'PORT', 'REDIS_URL'];
    const found = ['PROT', 'HOTS', 'REDIS_ULR', 'RDIS_URLS', 'HOME', 'REDIS', 'OTHER'].map((text) =>
      nearest(text, names),
    );
    expect(found).toEqual([
      'PORT',
      'HOST',
      'REDIS_URL',
      'REDIS_URL',
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('prefers the closest name', () => {
    expect(nearest('max_outputs', ['max_inputs', 'max_output'])).toBe('max_output');
  });
});

describe('editDistance', () => {
  const word = fc.string({ maxLength: 12 });

  test('is zero for equal texts only, and the same in both directions', () => {
    fc.assert(
      fc.property(word, word, (from, to) => {
        expect(editDistance(from, to) === 0).toBe(from === to);
        expect(editDistance(from, to)).toBe(editDistance(to, from));
      }),
    );
  });

  test('is at most the longer length and at least the difference in length', () => {
    fc.assert(
      fc.property(word, word, (from, to) => {
        const distance = editDistance(from, to);
        expect(distance).toBeLessThanOrEqual(Math.max(from.length, to.length));
        expect(distance).toBeGreaterThanOrEqual(Math.abs(from.length - to.length));
      }),
    );
  });
});
