// Tool arguments written by a model or a client, as the one JSON object that the Messages format
// requires.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { toolInput } from '../../src/wire/tool-input.ts';
import { jsonObjectText } from './messages/fixtures.ts';

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
  [
    'half a character',
    '{"a":"\\ud83d", "b":"\\ud83d\\ude00"}',
    '{"a":"\\ufffd", "b":"\\ud83d\\ude00"}',
  ],
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
