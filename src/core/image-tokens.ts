// What an image costs in prompt tokens, by its size, as vendors count it. An image of unknown size
// costs the most that its formula gives.

import type { Catalog, Model } from './model.ts';
import type { ImageFormula } from './profile.ts';

/** In pixels, each at least 1. */
export type ImageSize = { readonly width: number; readonly height: number };

const ENDLESS: ImageSize = { width: 65_536, height: 65_536 };

/**
 * platform.openai.com/docs/guides/images-vision: an image is fitted into 2,048 × 2,048 pixels, then
 * its shortest side into 768. It costs 85 tokens, and 170 for each tile of 512 × 512 that it touches.
 * The default `detail` is meant, since no other is sent.
 */
function tiles(size: ImageSize): number {
  const fitted = scaleDown(size, 2_048 / Math.max(size.width, size.height));
  const { width, height } = scaleDown(fitted, 768 / Math.min(fitted.width, fitted.height));
  return 85 + 170 * Math.ceil(width / 512) * Math.ceil(height / 512);
}

/** The same page: patches of 32 × 32 pixels, and a larger image is scaled down to 1,536 of them. */
function patches({ width, height }: ImageSize): number {
  return Math.min(1_536, Math.ceil(width / 32) * Math.ceil(height / 32));
}

/**
 * platform.claude.com/docs/en/build-with-claude/vision: width × height / 750, after an image with a
 * longer edge or more tokens than these was scaled down to them.
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

/** `size` is undefined where it could not be read. */
export function imageTokens(formula: ImageFormula, size: ImageSize | undefined): number {
  if (size !== undefined) return FORMULAS[formula](size);
  // A square has the most patches, and an image twice as wide as high the most tiles.
  const wide = { width: ENDLESS.width, height: ENDLESS.height / 2.5 };
  return Math.max(FORMULAS[formula](ENDLESS), FORMULAS[formula](wide));
}

/** What an image costs at a model: by the dearest of its upstreams, times the model's factor. */
export function modelImageTokens(
  { servedBy, imageFactor = 1 }: Pick<Model, 'servedBy' | 'imageFactor'>,
  { upstreams }: Pick<Catalog, 'upstreams'>,
  size: ImageSize | undefined,
): number {
  const counted = servedBy.map(({ upstream }) => {
    const found = upstreams.get(upstream);
    const formula =
      found === undefined || found.dialect === 'demo' ? 'tiles' : found.profile.imageTokens;
    return imageTokens(formula, size);
  });
  return Math.ceil(Math.max(...counted) * imageFactor);
}

function scaleDown({ width, height }: ImageSize, factor: number): ImageSize {
  if (factor >= 1) return { width, height };
  return {
    width: Math.max(1, Math.round(width * factor)),
    height: Math.max(1, Math.round(height * factor)),
  };
}
