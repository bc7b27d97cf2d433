// Stop sequences that an upstream is not told, because it takes fewer of them than a request may
// carry or none of white space: the gateway cuts the answer at those itself.

import type { UpstreamProfile } from './profile.ts';

export type StopSplit = {
  /** What the upstream is told. */
  readonly sent: readonly string[];
  /** What the gateway itself cuts the answer at. */
  readonly cut: readonly string[];
};

/**
 * Divides a request's stop sequences, duplicates removed, for the upstream of a profile: the first
 * `stopMax` that it takes are sent, the others are cut by us. The same request is always divided
 * the same way. Empty sequences do not get here: the request parsers refuse or drop them.
 */
export function splitStops(
  stop: readonly string[],
  profile: Pick<UpstreamProfile, 'stopMax' | 'blankStop'>,
): StopSplit {
  const sent: string[] = [];
  const cut: string[] = [];
  for (const sequence of new Set(stop)) {
    const taken = profile.blankStop === 'send' || sequence.trim() !== '';
    if (taken && sent.length < profile.stopMax) sent.push(sequence);
    else cut.push(sequence);
  }
  return { sent, cut };
}
