import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { CustomInput, customInput } from '../../src/wire/custom-input.ts';
import { cpuTimer } from '../support/cpu-time.ts';

function piecewise(text: string, cuts: readonly number[]): string {
  const input = new CustomInput();
  const places = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b)];
  return places
    .map((place, index) => text.slice(place, places[index + 1] ?? text.length))
    .map((piece) => input.push(piece))
    .join('');
}

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom('😀', 'a"b\\c\n\t', '\ud83d', '\ude00\ud83d', '{"input":"x"}'),
);
const cuts = fc.array(fc.nat());

/** With every character escaped that may be. */
function escaped(text: string): string {
  return text.replace(/[\s\S]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

describe('the input of a custom call', () => {
  test('is the text of its JSON, however it is cut and escaped', () => {
    fc.assert(
      fc.property(anyText, cuts, (text, places) => {
        for (const json of [JSON.stringify(text), `"${escaped(text)}"`]) {
          const given = ` {\n"input" : ${json}}\n`;
          expect(piecewise(given, places)).toBe(text.toWellFormed());
        }
      }),
    );
  });

  test('is the same streamed as whole, for arguments of any kind', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '"input"',
      ':',
      '"',
      '\\',
      'u12',
      'n',
      ' ',
      'é',
      '1',
      ',',
    );
    const noise = fc.array(piece).map((pieces) => pieces.join(''));
    const begun = noise.map((text) => `{"input":"${text}`);
    fc.assert(
      fc.property(fc.oneof(noise, begun, anyText), cuts, (given, places) => {
        expect(piecewise(given, places)).toBe(customInput(given));
      }),
    );
  });

  test.each([
    ['text', 'plain text', 'plain text'],
    ['another object', '{"patch":"x"}', '{"patch":"x"}'],
    ['an input that is no text', '{"input":5}', '{"input":5}'],
    ['another member first', '{"a":1,"input":"x"}', '{"a":1,"input":"x"}'],
    ['a list', '["x"]', '["x"]'],
    ['a name that begins alike', '{"inputs":"x"}', '{"inputs":"x"}'],
    ['more white space than a model writes', `{${' '.repeat(99)}"`, `{${' '.repeat(99)}"`],
  ])('is passed on as it is where the arguments are %s', (_name, given, expected) => {
    expect(customInput(given)).toBe(expected);
  });

  test.each([
    ['no arguments', '', ''],
    ['an object without members', ' { } ', ''],
    ['arguments that were cut before it', '{"inp', ''],
    ['an input that was cut', '{"input":"a\\u00', 'a'],
    ['a line break that was not escaped', '{"input":"a\nb"}', 'a\nb'],
    ['an escape that JSON does not have', '{"input":"\\d\\u12"}', '\\d\\u12'],
    ['half of a surrogate pair', '{"input":"\\ud83d"}', '\ufffd'],
    ['other members after it', '{"input":"x","a":1}', 'x'],
  ])('is what there is of it: %s', (_name, given, expected) => {
    expect(customInput(given)).toBe(expected);
  });

  test('is read in linear time', () => {
    const text = '\n"'.repeat(200_000);
    const cpuMs = cpuTimer();
    expect(customInput(JSON.stringify({ input: text }))).toBe(text);
    expect(cpuMs()).toBeLessThan(2_000);
  });
});
