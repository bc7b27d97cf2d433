// The kind of a text agrees with the runtime's parser on every text, and takes no memory of its own.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { jsonKind } from '../../src/core/json-kind.ts';

/** By the runtime's parser. */
function parsedKind(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (value === null) return 'null';
    return Array.isArray(value) ? 'array' : typeof value;
  } catch {
    return undefined;
  }
}

test('law: any JSON, in any spelling, is what the parser makes of it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), fc.nat(3), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(jsonKind(text)).toBe(parsedKind(text) as never);
      expect(jsonKind(` \r\n\t${text} `)).toBe(parsedKind(text) as never);
    }),
    { numRuns: 2_000 },
  );
});

test('law: what is no JSON is none', () => {
  const piece = fc.constantFrom(
    ...['{', '}', '[', ']', '"', ',', ':', ' ', '\n', '\\', '\\u00e9', '\\u00', '\u0001', 'é'],
    ...[
      '"a"',
      '"a":',
      '0',
      '01',
      '-',
      '-1',
      '1.',
      '.5',
      '1e',
      '1e+2',
      '1E5',
      'true',
      'nul',
      'null',
    ],
    ...['fals', 'false', '{}', '[]', '[1,', '{"a":1,', '\u00a0', '\ufeff', "'"],
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const text = pieces.join('');
      expect([text, jsonKind(text)]).toEqual([text, parsedKind(text) as never]);
    }),
    { numRuns: 20_000 },
  );
});

test.each([
  ['members that would take 8 KB each', `[${'{"999":0},'.repeat(200_000)}0]`, 'array'],
  ['an array without an end', `{"a":${'['.repeat(2_000_000)}`, undefined],
  ['one that nests', '['.repeat(1_000_000) + ']'.repeat(1_000_000), undefined],
  ['a long string', `"${'a\\n'.repeat(600_000)}"`, 'string'],
  ['a long number', `1${'0'.repeat(2_000_000)}`, 'number'],
])('nothing takes long: %s', (_name, text, kind) => {
  const startedAt = performance.now();
  expect(jsonKind(text)).toBe(kind as never);
  expect(performance.now() - startedAt).toBeLessThan(500);
});
