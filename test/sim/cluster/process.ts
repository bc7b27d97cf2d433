// The limits of one process in a simulated world: the baseline for what a cluster should admit, and
// the first check of each node.

import type { AccountLimits, AdmissionHistory } from '../../../src/limits/contract.ts';
import { createLimits } from '../../../src/limits/limits.ts';
import type { World } from '../world.ts';

/** Nothing was admitted before the world began. */
const NO_PAST: AdmissionHistory = {
  admittedSince: () => [],
  mark: () => 0,
  usedBefore: () => 0,
};

export function processLimits(world: World): AccountLimits {
  return createLimits({
    clock: world.wall,
    monotonic: world.monotonic,
    isLive: () => true,
    history: NO_PAST,
  });
}
