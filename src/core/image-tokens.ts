// Computes an image's prompt tokens from its size by the vendors' formulas. An image of unknown
// size costs the maximum of its formula.

import type { Model } from './model.ts';
import type { ImageFormula } from './profile.ts';

/** In pixels, each at least 1. */
export type ImageSize = { readonly width: number; readonly height: number };

const ENDLESS: ImageSize = { width: 65_536, height: 65_536 };

/**
 * platform.openai.com/docs/guides/images-vision: an image is fitted into 2,048 × 2,048 pixels, then
 * its shortest side into 768. It costs 85 tokens plus 170 for each tile of 512 × 512 that it
 * touches. This is the default `detail`, the only one sent.
 */
function tiles(size: ImageSize): number {
  const fitted = scaleDown(size, 2_048 / Math.max(size.width, size.height));
  const { width, height } = scaleDown(fitted, 768 / Math.min(fitted.width, fitted.height));
  return 85 + 170 * Math.ceil(width / 512) * Math.ceil(height / 512);
}

/** Same page: patches of 32 × 32 pixels; a larger image is scaled down to 1,536 of them. */
function patches({ width, height }: ImageSize): number {
  return Math.min(1_536, Math.ceil(width / 32) * Math.ceil(height / 32));
}

/**
 * platform.claude.com/docs/en/build-with-claude/vision: width × height / 750, after scaling the
 * image down to these limits on the longer edge and on tokens.
 */
function area(size: ImageSize, longestEdge: number, mostTokens: number): number {
  const { width, height } = scaleDown(size, longestEdge / Math.max(size.width, size.height));
  return Math.min(mostTokens, Math.ceil((width * height) / 750));
}

const FORMULAS: Readonly<Record<ImageFormula, (size: ImageSize) => number>> = {
  tiles,
  patches,
  area: (size) => area(size, 1_568, 1_600),
  large_area: (size) => area(size, 2_576, 4_784),
};

/** `size` is undefined if it could not be read. */
export function imageTokens(formula: ImageFormula, size: ImageSize | undefined): number {
  if (size !== undefined) return FORMULAS[formula](size);
  // A square has the most patches, and a 2:1 image the most tiles.
  const wide = { width: ENDLESS.width, height: ENDLESS.height / 2.5 };
  return Math.max(FORMULAS[formula](ENDLESS), FORMULAS[formula](wide));
}

/** The image tokens at a model: the most expensive of its upstreams, times the model's factor. */
export function modelImageTokens(
  { servedBy, imageFactor = 1 }: Pick<Model, 'servedBy' | 'imageFactor'>,
  size: ImageSize | undefined,
): number {
  const counted = servedBy.map(({ profile }) => imageTokens(profile.imageTokens, size));
  return Math.ceil(Math.max(...counted) * imageFactor);
}

function scaleDown({ width, height }: ImageSize, factor: number): ImageSize {
  if (factor >= 1) return { width, height };
  return {
    width: Math.max(1, Math.round(width * factor)),
    height: Math.max(1, Math.round(height * factor)),
  };
}
