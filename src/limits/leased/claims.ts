// The claims of one holder: what each request took from the counters, and how that is returned or
// corrected when it ends. leased.ts decides; nothing here refuses a request.

import type { LimitView } from '../../core/plan.ts';
import type { Claim, ClaimRequest } from '../contract.ts';
import { LEASE_MS } from '../open-claims.ts';
import { tokensOf } from '../scope.ts';
import type { LeasedAccount, LeasedAccounts } from './accounts.ts';
import { type Counters, giveBack, type LeasedClaim, take, type WindowCounter } from './counters.ts';
import { viewAt, type Wanted } from './needs.ts';

export type OpenLeasedClaim = {
  readonly open: LeasedClaim;
  readonly windows: readonly WindowCounter[];
};

/** `request`: it still counts as a request, but not its tokens. */
type Used = { readonly tokens: number } | 'request' | 'nothing';

export function createClaims(
  { changed, roll }: Pick<LeasedAccounts, 'changed' | 'roll'>,
  monotonic: () => number,
) {
  /** Corrects the caps to the actual usage. For a cancelled request, returns everything. */
  function end(account: LeasedAccount, { open, windows }: OpenLeasedClaim, used: Used): void {
    const { counters } = account;
    const usedTokens = typeof used === 'string' ? 0 : used.tokens;
    counters.claims.delete(open);
    for (const claimed of open.periods) {
      // A claim that was lost may end after its period was dropped.
      const period = counters.periods.get(claimed.name) ?? claimed;
      period.used += usedTokens - open.tokens;
      counters.periods.set(period.name, period);
    }
    if (typeof used === 'string') {
      giveBack(counters, windows, [used === 'request' ? 0 : 1, open.tokens]);
    }
    changed(account);
  }

  return {
    /** Takes what was leased, or what the node's own limits granted. */
    take({ counters }: LeasedAccount, request: ClaimRequest, { need }: Wanted): OpenLeasedClaim {
      const nowMs = monotonic();
      const { windows, periods } = take(counters, need, nowMs);
      const { requestId, startedAt, model } = request;
      const lease = { hasSlot: true, leaseUntil: nowMs + LEASE_MS };
      const open = { requestId, startedAt, model, ...lease, tokens: tokensOf(request), periods };
      counters.claims.add(open);
      return { open, windows };
    },
    undo: (account: LeasedAccount, taken: OpenLeasedClaim): void => end(account, taken, 'nothing'),
    /** Creates the claim; `own` is the claim on the node's own limits, and ends with it. */
    open(
      account: LeasedAccount,
      request: ClaimRequest,
      taken: OpenLeasedClaim,
      own: Claim,
      view: LimitView,
    ): Claim {
      let ended = false;
      const endOnce = (used: Used): void => {
        if (ended) return;
        ended = true;
        end(account, taken, used);
      };
      return {
        view,
        outputBound: request.outputBound,
        freeSlot() {
          own.freeSlot();
          if (!taken.open.hasSlot) return;
          taken.open.hasSlot = false;
          changed(account);
        },
        settle(usedTokens) {
          own.settle(usedTokens);
          endOnce({ tokens: usedTokens });
        },
        cancel(keeps) {
          // The result is not needed, so it is not awaited.
          void own.cancel(keeps);
          endOnce(keeps ?? 'nothing');
          const nowMs = monotonic();
          roll(account, nowMs);
          return viewAt(account.counters, request, nowMs);
        },
      };
    },
  };
}

/**
 * Drops the periods before the current ones that no open claim counts in: Redis and the books have
 * their use, and each call would name all of them for as long as the account is busy.
 */
export function dropEnded({ periods, claims }: Counters, current: readonly string[]): void {
  for (const [name, period] of periods) {
    // Days and months have names of different lengths.
    const isEnded = current.some((other) => other.length === name.length && other > name);
    if (!isEnded || claims.values().some((claim) => claim.periods.includes(period))) continue;
    periods.delete(name);
  }
}
