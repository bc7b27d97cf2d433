// Tool ids: what a client sees, and what it sends back.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { decodeToolId, encodeToolId } from '../../../src/wire/messages/tool-id.ts';

const IDS: [id: string, shown: string][] = [
  ['call_1', 'call_1'],
  ['toolu_01Ab-c', 'toolu_01Ab-c'],
  ['a'.repeat(200), 'a'.repeat(200)],
  ['a b', 'toolu_xYSBi'],
  ['functions.f:0', 'toolu_xZnVuY3Rpb25zLmY6MA'],
  ['toolu_xYSBi', 'toolu_xdG9vbHVfeFlTQmk'],
];

describe('a tool id', () => {
  test.each(IDS)('%p is shown as %p and read back', (id, shown) => {
    expect(encodeToolId(id)).toBe(shown);
    expect(decodeToolId(shown)).toBe(id);
  });

  test('of any text is shown in plain characters and comes back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (id) => {
        expect(encodeToolId(id)).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(decodeToolId(encodeToolId(id))).toBe(id);
      }),
    );
  });

  test('that only looks like ours stays as it is', () => {
    expect(decodeToolId('toolu_x!')).toBe('toolu_x!');
    expect(decodeToolId('toolu_xYWJj')).toBe('toolu_xYWJj');
  });

  test('never becomes empty: no call could be matched with its result by that', () => {
    expect(decodeToolId('toolu_x')).toBe('toolu_x');
  });
});
