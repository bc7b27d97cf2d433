// The ledger of a simulated cluster, as far as limits read it: recent admissions, and the usage of
// ended requests. All nodes write to it, shortly after they admit.

import type { AdmissionHistory } from '../../../src/limits/contract.ts';
import type { World } from '../world.ts';
import { chargedTokens } from './book.ts';
import { ACCOUNT, MODEL, type Played } from './play.ts';

/** Until a hold is committed. */
const COMMIT_MS = 10;

export function createHistory(world: World, played: () => Played): AdmissionHistory {
  const wallOf = (ms: number): number => ms + (world.wall() - world.monotonic());
  return {
    admittedSince(sinceMs) {
      const untilMs = world.monotonic() - COMMIT_MS;
      return played()
        .admissions.filter(({ atMs }) => atMs <= untilMs && wallOf(atMs) >= sinceMs)
        .map(({ arrival, atMs }) => ({
          ...{ accountId: ACCOUNT, model: MODEL },
          ...{ startedAt: wallOf(atMs), tokens: chargedTokens(arrival) },
        }))
        .reverse();
    },
    mark: () => played().settled.length,
    usedBefore(_accountId, { fromMs, untilMs }, mark) {
      return played()
        .settled.slice(0, mark)
        .map(({ arrival, atMs }) => ({ at: wallOf(atMs), tokens: arrival.usedTokens }))
        .filter(({ at }) => fromMs <= at && at < untilMs)
        .reduce((sum, { tokens }) => sum + tokens, 0);
    },
  };
}
