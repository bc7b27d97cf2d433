// Codes are recognised in any spelling, and a typing mistake yields no other code.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  createRedemptionCode,
  maskRedemptionCode,
  readRedemptionCode,
} from '../../src/core/redemption-code.ts';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

const codes = fc
  .uint8Array({ minLength: 15, maxLength: 15 })
  .map((bytes) => createRedemptionCode(() => bytes));

const KNOWN = ['TG-07EN-W3AH-RZ6D-MV2M', 'TG-18FP-X4BJ-S07E-NW3Q', 'TG-8FPX-4BJS-07EN-W3A4'];

/** Where the sixteen characters are in a normal form. */
const PLACES = Array.from({ length: 16 }, (_, index) => 3 + index + Math.floor(index / 4));

function replaceAt(code: string, place: number, character: string): string {
  return code.slice(0, place) + character + code.slice(place + 1);
}

test('a code has a prefix and four groups of its alphabet, and every letter comes equally often', () => {
  const all = Uint8Array.from({ length: 256 }, (_, index) => index);
  const seen = new Map<string, number>();
  for (let at = 0; at < 256; at += 1) {
    const bytes = Uint8Array.from({ length: 15 }, () => all[at] ?? 0);
    const code = createRedemptionCode(() => bytes);
    expect(code).toMatch(/^TG(-[0-9A-HJKMNP-TV-Z]{4}){4}$/);
    const first = code.charAt(3);
    seen.set(first, (seen.get(first) ?? 0) + 1);
  }
  expect([...seen.keys()].sort().join('')).toBe(ALPHABET);
  expect(new Set(seen.values())).toEqual(new Set([8]));
});

test('known codes: neither alphabet nor check may ever change', () => {
  const bytes = (first: number) => Uint8Array.from({ length: 15 }, (_, index) => first + index * 7);
  expect([0, 1, 200].map((first) => createRedemptionCode(() => bytes(first)))).toEqual(KNOWN);
  expect(KNOWN.map(readRedemptionCode)).toEqual(KNOWN);
});

describe('reading', () => {
  test('case, spaces, dashes, a missing prefix and look-alikes make no difference', () => {
    const separator = fc.constantFrom('', '-', ' ', '–', '\t', ' - ', '_', '.');
    const spelling = fc.tuple(fc.boolean(), fc.boolean(), fc.boolean(), separator);
    fc.assert(
      fc.property(codes, spelling, (code, [lower, bare, alike, between]) => {
        let typed = code.split('-').join(between);
        if (bare) typed = code.slice(3).split('-').join(between);
        if (alike) typed = typed.replaceAll('0', 'O').replaceAll('1', 'l');
        if (lower) typed = typed.toLowerCase();
        expect(readRedemptionCode(` ${typed}\n`)).toBe(code);
      }),
      { numRuns: 1_000 },
    );
  });

  test('every single wrong character is found', () => {
    fc.assert(
      fc.property(codes, fc.constantFrom(...PLACES), (code, place) => {
        for (const character of ALPHABET) {
          const typed = replaceAt(code, place, character);
          expect(readRedemptionCode(typed)).toBe(typed === code ? code : undefined);
        }
      }),
    );
  });

  test('every two characters that changed places are found', () => {
    fc.assert(
      fc.property(codes, fc.nat(15), fc.nat(15), (code, one, other) => {
        const [left = 0, right = 0] = [PLACES[one], PLACES[other]];
        const swapped = replaceAt(
          replaceAt(code, left, code.charAt(right)),
          right,
          code.charAt(left),
        );
        expect(readRedemptionCode(swapped)).toBe(swapped === code ? code : undefined);
      }),
      { numRuns: 1_000 },
    );
  });

  test.each([
    '',
    'TG',
    'TG-',
    'TG-0000-0000-0000-000',
    'TG-0000-0000-0000-00000',
    'XX-0000-0000-0000-0000',
    'TG-0000-0000-0000-000U',
    'TG-0000-0000-0000-000€',
    'sk-0000000000000000',
    '0'.repeat(1_000_000),
    '-'.repeat(1_000_000),
  ])('%#: no code', (typed) => expect(readRedemptionCode(typed)).toBeUndefined());

  test('any input is a code in its normal form, or rejected', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 30 }), (typed) => {
        const code = readRedemptionCode(typed);
        if (code !== undefined) expect(readRedemptionCode(code)).toBe(code);
      }),
    );
  });
});

test('what is shown later leaves sixty-five random bits unsaid', () => {
  expect(maskRedemptionCode('TG-7K3M-0000-0000-0000')).toBe('TG-7K…');
});
