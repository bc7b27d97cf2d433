// The header of the draft: bare or quoted, bounded, and the same key in both forms.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { GatewayError } from '../../src/core/error.ts';
import { readIdempotencyKey } from '../../src/core/idempotency-key.ts';
import { thrownBy } from '../support/thrown.ts';
import { samples } from '../support/tier.ts';

function refusalOf(header: string): readonly [string, string | undefined] | undefined {
  const error = thrownBy(GatewayError, () => readIdempotencyKey(header));
  return error && [error.code, error.param];
}

const VISIBLE = Array.from({ length: 0x7e - 0x21 + 1 }, (_, index) =>
  String.fromCharCode(0x21 + index),
);

describe('an Idempotency-Key', () => {
  test.each([
    ['8e03978e-40d5-43e8-bc93-6894a57f9324', '8e03978e-40d5-43e8-bc93-6894a57f9324'],
    ['"8e03978e-40d5"', '8e03978e-40d5'],
    ['"a \\"b\\" \\\\ c"', 'a "b" \\ c'],
    [' job 7, step 2 ', 'job 7, step 2'],
    // Not a string of RFC 9651, so it is bare.
    ['"a', '"a'],
    ['"a" b', '"a" b'],
  ])('%p is %p', (header, key) => {
    expect(readIdempotencyKey(header)).toBe(key);
  });

  test.each([
    ['empty', ''],
    ['blank', '   '],
    ['an empty string', '""'],
    ['a control character', 'a\tb'],
    ['another alphabet', 'schlüssel'],
    ['too long', 'a'.repeat(256)],
    ['huge', 'a'.repeat(65_536)],
  ])('is refused if %s', (_why, header) => {
    expect(refusalOf(header)).toEqual(['invalid_request', 'Idempotency-Key']);
  });

  test('of visible characters is the same key bare and quoted, up to 255 of them', () => {
    const key = fc.string({ unit: fc.constantFrom(...VISIBLE), minLength: 1, maxLength: 255 });
    fc.assert(
      fc.property(key, (text) => {
        const quoted = `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
        expect(readIdempotencyKey(quoted)).toBe(text);
        if (!/^".*"$/.test(text)) expect(readIdempotencyKey(text)).toBe(text);
      }),
      { numRuns: samples(200, 5_000) },
    );
  });
});
