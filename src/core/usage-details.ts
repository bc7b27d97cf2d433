// What only some upstreams report: parts of the cached and the written tokens, and a service tier. The
// books keep them as a few bytes in one column, so that rows without them grow by one byte.

import type { Usage } from './generation.ts';
import { packNumbers, unpackNumbers } from './shape.ts';

export type UsageDetails = Pick<
  Usage,
  'cachedExplicitTokens' | 'cacheWriteLongTokens' | 'serviceTier'
>;

/** The details alone; undefined if there are none. */
export function detailsOf(usage: Usage): UsageDetails | undefined {
  const { cachedExplicitTokens, cacheWriteLongTokens, serviceTier } = usage;
  const details = {
    ...(cachedExplicitTokens !== undefined && { cachedExplicitTokens }),
    ...(cacheWriteLongTokens !== undefined && { cacheWriteLongTokens }),
    ...(serviceTier !== undefined && { serviceTier }),
  };
  return Object.keys(details).length === 0 ? undefined : details;
}

/** Null if there are none. `numberOf` gives the number of a text in the books. */
export function packDetails(usage: Usage, numberOf: (text: string) => number): Uint8Array | null {
  const details = detailsOf(usage);
  if (details === undefined) return null;
  const { cachedExplicitTokens = 0, cacheWriteLongTokens = 0, serviceTier } = details;
  const tier = serviceTier === undefined ? 0 : numberOf(serviceTier);
  return packNumbers([cachedExplicitTokens, cacheWriteLongTokens, tier]);
}

/** `textOf` gives the text of a number in the books. */
export function unpackDetails(
  bytes: Uint8Array | null,
  textOf: (number: number) => string,
): UsageDetails {
  if (bytes === null) return {};
  const [cachedExplicitTokens = 0, cacheWriteLongTokens = 0, tier = 0] = unpackNumbers(bytes);
  return {
    ...(cachedExplicitTokens > 0 && { cachedExplicitTokens }),
    ...(cacheWriteLongTokens > 0 && { cacheWriteLongTokens }),
    ...(tier > 0 && { serviceTier: textOf(tier) }),
  };
}

/** The number of the service tier's text; null if there is none. */
export function tierNumber(bytes: Uint8Array | null): number | null {
  return bytes === null ? null : unpackNumbers(bytes)[2] || null;
}
