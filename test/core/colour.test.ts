// Contrast of colours, and the law that every accepted accent stays readable in all its shades.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { accentContrast, accentTokens, CONTRAST_MIN, contrast } from '../../src/core/colour.ts';

describe('contrast', () => {
  test.each([
    ['#000000', '#ffffff', 21],
    ['#ffffff', '#ffffff', 1],
    ['#767676', '#ffffff', 4.54],
    ['#0d5c75', '#ffffff', 7.49],
  ])('of %s and %s is %d', (a, b, expected) => {
    expect(contrast(a, b)).toBeCloseTo(expected, 2);
    expect(contrast(b, a)).toBe(contrast(a, b));
  });

  test('an accepted accent has it for every text in it and on it', () => {
    const colour = fc.integer({ min: 0, max: 0xff_ff_ff });
    fc.assert(
      fc.property(colour, fc.constantFrom('light' as const, 'dark' as const), (value, theme) => {
        const accent = `#${value.toString(16).padStart(6, '0')}`;
        fc.pre(accentContrast(accent, theme) >= CONTRAST_MIN);
        const tokens = accentTokens({ light: accent, dark: accent });
        const of = (name: string) => tokens[name]?.[theme] ?? '';
        const surfaces = {
          light: ['#ffffff', '#f4f6f8', '#eef2f5', '#e6ebf0'],
          dark: ['#14181d', '#0d1014', '#1a1f26', '#20262e', '#1b2129'],
        }[theme];
        const onAccent = theme === 'light' ? '#ffffff' : '#06212b';
        const pairs = [
          ...surfaces.flatMap((surface) => [
            [of('accent'), surface],
            [of('accent-strong'), surface],
          ]),
          [of('accent-strong'), of('accent-soft')],
          [of('accent-strong'), of('side-active')],
          [onAccent, of('accent')],
          [onAccent, of('accent-strong')],
        ] as const;
        for (const [text = '', surface = ''] of pairs) {
          expect(contrast(text, surface)).toBeGreaterThanOrEqual(CONTRAST_MIN);
        }
      }),
    );
  });
});
