// What images cost, by the examples of the vendors' documents, and that no size costs more than an
// unknown one.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { type ImageSize, imageTokens, modelImageTokens } from '../../src/core/image-tokens.ts';
import type { Placement } from '../../src/core/model.ts';
import type { ImageFormula } from '../../src/core/profile.ts';

test.each<[ImageFormula, number, number, number]>([
  ['tiles', 512, 512, 255],
  ['tiles', 1_024, 1_024, 765],
  ['tiles', 2_048, 4_096, 1_105],
  ['tiles', 1, 1, 255],
  ['tiles', 10_000, 100, 765],
  ['tiles', 4_096, 1_536, 1_445],
  ['patches', 1_024, 1_024, 1_024],
  ['patches', 33, 32, 2],
  ['patches', 4_000, 4_000, 1_536],
  ['area', 200, 200, 54],
  ['area', 1_000, 1_000, 1_334],
  ['area', 1_092, 1_092, 1_590],
  ['area', 3_000, 4_000, 1_600],
  ['area', 8_000, 80, 34],
  ['large_area', 1_000, 1_000, 1_334],
  ['large_area', 8_000, 6_000, 4_784],
])('%s: %i × %i pixels', (formula, width, height, tokens) => {
  expect(imageTokens(formula, { width, height })).toBe(tokens);
  expect(imageTokens(formula, { width: height, height: width })).toBe(tokens);
});

const FORMULAS: readonly (readonly [ImageFormula, number])[] = [
  ['tiles', 1_445],
  ['patches', 1_536],
  ['area', 1_600],
  ['large_area', 4_784],
];

test.each(FORMULAS)('%s: an unknown size costs %i, and no known one more', (formula, most) => {
  expect(imageTokens(formula, undefined)).toBe(most);
  const pixels = fc.integer({ min: 1, max: 100_000 });
  fc.assert(
    fc.property(pixels, pixels, (width, height) => {
      const tokens = imageTokens(formula, { width, height });
      expect(tokens).toBeGreaterThan(0);
      expect(tokens).toBeLessThanOrEqual(most);
    }),
  );
});

test('the dearest upstream of a model counts, times the factor of the model', () => {
  const cost = (formulas: readonly ImageFormula[], size: ImageSize, imageFactor?: number) =>
    modelImageTokens(
      {
        servedBy: formulas.map((imageTokens) => ({ profile: { imageTokens } }) as Placement),
        ...(imageFactor === undefined ? {} : { imageFactor }),
      },
      size,
    );
  const square = { width: 1_024, height: 1_024 };
  expect(cost(['tiles'], square)).toBe(765);
  expect(cost(['tiles', 'area'], square)).toBe(1_399);
  // What OpenAI's page says of gpt-4o-mini: 2,833 and 5,667 a tile.
  expect(cost(['tiles'], square, 33.4)).toBeGreaterThanOrEqual(2_833 + 4 * 5_667);
});
