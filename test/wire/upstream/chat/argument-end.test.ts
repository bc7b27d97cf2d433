import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { createArgumentEnd } from '../../../../src/wire/upstream/chat/argument-end.ts';

function read(...pieces: readonly string[]): string {
  const end = createArgumentEnd();
  return pieces.map((piece) => end.push(piece).json).join('') + end.rest();
}

describe('arguments end with their object', () => {
  const cases: readonly (readonly [title: string, pieces: readonly string[], expected: string])[] =
    [
      ['said once more', ['{"a":1}', '{"a":1}'], '{"a":1}'],
      ['said once more in one piece', ['{"a":1}{"a":1}'], '{"a":1}'],
      ['closed twice', ['{"a":', '1}', '}'], '{"a":1}'],
      ['with white space behind', ['{"a":1}', '\n', ' }'], '{"a":1}\n '],
      ['braces in strings', ['{"a":"}\\"}', '{"}'], '{"a":"}\\"}{"}'],
      ['braces in objects', ['{"a":{}', ',"b":{}}', '{}'], '{"a":{},"b":{}}'],
      ['an empty object that stands for nothing yet', ['{}', '{"a":1}'], '{"a":1}'],
      ['two of them', ['{}', '{}', '{"a":', '1}'], '{"a":1}'],
      ['an empty object that is all', ['{}'], '{}'],
      ['and is closed twice', ['{}', '}'], '{}'],
      ['torn', ['{"a":"', 'x'], '{"a":"x'],
      ['no object', ['[1]', '[1]'], '[1][1]'],
      ['encoded twice', ['"{\\"a\\":1}"'], '"{\\"a\\":1}"'],
    ];
  for (const [title, pieces, expected] of cases) {
    test(title, () => expect(read(...pieces)).toBe(expected));
  }

  test('any object passes byte for byte, however it is cut, and nothing behind it does', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value));
    fc.assert(
      fc.property(object, object, fc.array(fc.nat()), (text, surplus, positions) => {
        fc.pre(text !== '{}');
        const cuts = positions.map((position) => position % text.length).sort((a, b) => a - b);
        const borders = [0, ...cuts, text.length];
        const pieces = borders.slice(1).map((border, index) => text.slice(borders[index], border));
        expect(read(...pieces, surplus)).toBe(text);
      }),
    );
  });

  test('one repetition is free, also with other white space and behind a placeholder', () => {
    const surplus = (...pieces: readonly string[]): string => {
      const end = createArgumentEnd();
      return pieces.map((piece) => end.push(piece).surplus).join('');
    };
    expect(surplus('{"a":1,"b":2}', '{"a": 1, "b": 2}')).toBe('');
    expect(surplus('{}', '{}', '{"a":1}', '{"a": 1}')).toBe('');
    expect(surplus('{"a":1}', '{"a": 1}', '{"a": 1}')).toBe('{"a": 1}');
    const long = `{"a":"${'x'.repeat(40)}"}`;
    expect(surplus('{"a":1}', long)).toBe(long);
    expect(surplus('{"a":1}', 'and more')).toBe('and more');
  });

  test('one can ask whether there is anything, and whether that is all', () => {
    const end = createArgumentEnd();
    const states = [' ', '{', '"a":1', '}'].map((piece) => {
      end.push(piece);
      return [end.isEmpty(), end.isWhole()];
    });
    expect(states).toEqual([
      [true, false],
      [false, false],
      [false, false],
      [false, true],
    ]);
  });
});
