// Tool ids and inputs: what a client sees, and what comes back from it.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { decodeToolId, encodeToolId, toolInput } from '../../../src/wire/messages/tool.ts';
import { jsonObjectText } from './fixtures.ts';

const IDS: [id: string, shown: string][] = [
  ['call_1', 'call_1'],
  ['toolu_01Ab-c', 'toolu_01Ab-c'],
  ['a'.repeat(200), 'a'.repeat(200)],
  ['', 'toolu_x'],
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
      fc.property(fc.string({ unit: 'binary' }), (id) => {
        expect(encodeToolId(id)).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(decodeToolId(encodeToolId(id))).toBe(id);
      }),
    );
  });

  test('that only looks like ours stays as it is', () => {
    expect(decodeToolId('toolu_x!')).toBe('toolu_x!');
    expect(decodeToolId('toolu_xYWJj')).toBe('toolu_xYWJj');
  });
});

const INPUTS: [name: string, text: string, input: string][] = [
  ['nothing', '', '{}'],
  ['white space', ' \n', '{}'],
  ['null', 'null', '{}'],
  ['an object cut short', '{"a": "b', '{}'],
  ['not JSON', 'city=Paris', '{}'],
  ['a list', '[1, 2]', '{"value":[1, 2]}'],
  ['a large number', '12345678901234567890', '{"value":12345678901234567890}'],
  ['a plain string', '"Paris"', '{"value":"Paris"}'],
  ['an object encoded twice', '"{\\"2\\":1, \\"1\\":2}"', '{"2":1, "1":2}'],
  ['an object encoded three times', '"\\"{}\\""', '{"value":"\\"{}\\""}'],
];

describe('a tool input', () => {
  test.each(INPUTS)('made from %s is an object', (_name, text, input) => {
    expect(toolInput(text)).toBe(input);
  });

  test('that is an object keeps its bytes', () => {
    fc.assert(
      fc.property(jsonObjectText, (text) => {
        expect(toolInput(text)).toBe(text);
      }),
    );
  });
});
