import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { GatewayError } from '../../src/core/error.ts';
import { JSON_WEIGHT_MAX } from '../../src/core/json-weight.ts';
import { parseBody } from '../../src/wire/body.ts';
import { thrownBy } from '../support/thrown.ts';

const { depth: JSON_DEPTH_MAX, members: JSON_KEYS_MAX } = JSON_WEIGHT_MAX;
const encoder = new TextEncoder();

function parse(text: string): unknown {
  return parseBody(encoder.encode(text)).value;
}

function refusal(bytes: Uint8Array): string {
  const error = thrownBy(GatewayError, () => parseBody(bytes));
  if (error === undefined) throw new Error('was accepted');
  expect([error.code, error.param]).toEqual(['invalid_request', undefined]);
  return error.message;
}

function nested(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth);
}

function withKeys(count: number): string {
  const single = Array.from({ length: count % 2 }, () => '{"a":1}');
  const pairs = Array.from({ length: Math.floor(count / 2) }, () => '{"a":1,"b":2}');
  return `[${[...single, ...pairs].join()}]`;
}

/** Strings that all differ, as names of members or as values. */
function words(count: number, as: 'names' | 'values'): string {
  const all = Array.from({ length: count }, (_, index) => `"word ${index}"`);
  return as === 'names' ? `{${all.map((word) => `${word}:1`).join()}}` : `[${all.join()}]`;
}

const NOT_JSON = 'The request body is not valid JSON.';
const NOT_UTF8 = 'The request body is not valid UTF-8. Send JSON in UTF-8.';
const TOO_DEEP = 'The request body nests deeper than 64 levels.';
const TOO_MANY =
  'The request body has more than 50000 object members; a name that is a number counts as up to 1,000.';
const TOO_LONG = 'The request body has more than 100000 values.';
const TOO_VARIED =
  'The request body has more than 10000 different names of members and short strings.';
const listOf = (count: number, of: string): string => `[${Array(count).fill(of).join()}]`;

describe('parseBody', () => {
  test.each([
    'null',
    '[]',
    '"text"',
    ' {"a": 1.0} ',
    '{"a":1,"a":2}',
    '{"__proto__":{"polluted":true},"constructor":1}',
    '{"a":"\\"}]{[:"}',
    '{"a":"\\\\","b":["\\\\\\"["]}',
  ])('agrees with JSON.parse on %s', (text) => {
    expect(parse(text)).toEqual(JSON.parse(text));
  });

  test.each([
    ['empty', '', 'The request body is empty. Send a JSON object.'],
    ['truncated', '{"model":"secret', NOT_JSON],
    ['trailing comma', '{"a":1,}', NOT_JSON],
    ['comment', '{} // secret', NOT_JSON],
    ['single quotes', "{'secret':1}", NOT_JSON],
    ['NaN', '{"a":NaN}', NOT_JSON],
    ['leading zero', '{"a":01}', NOT_JSON],
    ['two documents', '{}{}', NOT_JSON],
    ['closed too early', `${']'.repeat(500)}${'['.repeat(500)}`, NOT_JSON],
    ['too deep', nested(JSON_DEPTH_MAX + 1), TOO_DEEP],
    ['much too deep', nested(200_000), TOO_DEEP],
    ['too deep in an ignored field', `{"x":${nested(JSON_DEPTH_MAX)}}`, TOO_DEEP],
    ['2 MB of objects', '{"a":'.repeat(400_000), TOO_DEEP],
    ['too many keys', withKeys(JSON_KEYS_MAX + 1), TOO_MANY],
    ['too many elements', listOf(100_001, '0'), TOO_LONG],
    ['too many objects', listOf(50_001, '{}'), TOO_LONG],
    ['too many different names', words(25_000, 'names'), TOO_VARIED],
    ['too many different strings', words(25_000, 'values'), TOO_VARIED],
    // Each would take 8 KB.
    ['names that are numbers', listOf(51, '{"999":0}'), TOO_MANY],
    ['names that are escaped numbers', listOf(51, '{"\\u0039\\u0039\\u0039":0}'), TOO_MANY],
  ])('refuses a body that is %s', (_name, text, message) => {
    expect(refusal(encoder.encode(text))).toBe(message);
  });

  test('accepts the greatest depth and number of keys', () => {
    expect(parse(nested(JSON_DEPTH_MAX))).toEqual(JSON.parse(nested(JSON_DEPTH_MAX)));
    expect(parse(withKeys(JSON_KEYS_MAX))).toEqual(JSON.parse(withKeys(JSON_KEYS_MAX)));
    for (const many of [
      listOf(99_999, '0'),
      listOf(49_999, '{}'),
      listOf(50, '{"999":0,"998":1}'),
      listOf(99_999, '"a string"'),
      words(10_000, 'names'),
      words(10_000, 'values'),
      // Strings that are too long to count as words.
      listOf(90_000, '"x"').replaceAll('"x"', () => `"${'x'.repeat(33)}"`),
      listOf(10_000, '{"\\u540d":"x","\\u00e9t\\u00e9":1,"\\"9\\"":2}'),
      listOf(10_000, '{"12345":0,"2":{"1":2},"":0}'),
    ]) {
      expect(parse(many)).toEqual(JSON.parse(many));
    }
  });

  test('takes UTF-8 only, with or without a byte-order mark', () => {
    expect(parse('\uFEFF{"a":"é"}')).toEqual({ a: 'é' });
    expect(refusal(Uint8Array.from([0x22, 0xff, 0x22]))).toBe(NOT_UTF8);
    expect(refusal(Uint8Array.from([0x22, 0xed, 0xa0, 0x80, 0x22]))).toBe(NOT_UTF8);
    expect(refusal(new Uint8Array(Buffer.from('{"a":1}', 'utf16le')))).toBe(NOT_JSON);
  });

  test.each([
    ['"\\ud83d"', '\ufffd'],
    ['"\\udE00x\\uD83D"', '\ufffdx\ufffd'],
    ['"\\uD83D\\ude00"', '😀'],
    ['"\\ud83d\\ud83d\\ude00"', '\ufffd😀'],
    ['"\\\\ud83d"', '\\ud83d'],
    ['"\\\\\\ud83d"', '\\\ufffd'],
    ['"\\\\ud83d\\ude00"', '\\ud83d\ufffd'],
    ['"\\\\ud83d\\\\ude00"', '\\ud83d\\ude00'],
  ])('makes the string %s well-formed', (text, value) => {
    expect(parse(text)).toBe(value);
  });

  test('returns the text that the value came from', () => {
    const body = parseBody(encoder.encode('\uFEFF{"n":12345678901234567890,"s":"\\udc00"}'));
    expect(body.text).toBe('{"n":12345678901234567890,"s":"\\ufffd"}');
  });

  test('agrees with JSON.parse on any JSON, however its strings are escaped', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 8, stringUnit: 'binary' }),
        fc.boolean(),
        (value, escapeAll) => {
          const plain = JSON.stringify(value);
          const text = escapeAll ? escapeNonAscii(plain) : plain;
          expect(parse(text)).toEqual(JSON.parse(plain));
        },
      ),
    );
  });

  test('every string that comes out is well-formed', () => {
    const unit = fc.constantFrom('\\\\', '\\ud83d', '\\ude00', '\\n', '\\"', 'ud83d', 'a');
    fc.assert(
      fc.property(fc.array(unit), (units) => {
        const text = `"${units.join('')}"`;
        expect(parse(text)).toBe(String(JSON.parse(text)).toWellFormed());
      }),
    );
  });

  test('refuses bytes only in its own words', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        try {
          parseBody(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(GatewayError);
        }
      }),
    );
  });
});

function escapeNonAscii(text: string): string {
  return text.replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
