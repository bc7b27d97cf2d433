// The claims of one holder: what each request took from the counters and from the node's own limits,
// which also count all that the cluster admits. leased.ts decides; nothing here refuses a request.

import type { Awaitable } from '../../async/awaitable.ts';
import type { LimitView, Plan } from '../../core/plan.ts';
import type { AccountLimits, Claim, ClaimRequest, ClaimResult } from '../contract.ts';
import { LEASE_MS } from '../open-claims.ts';
import type { LeasedAccount, LeasedAccounts } from './accounts.ts';
import { end, freeSlot, type LeasedClaim, type Need, take, type Used } from './counters.ts';
import { viewAt } from './needs.ts';

export function createClaims(
  { changed, roll }: Pick<LeasedAccounts, 'changed' | 'roll'>,
  local: Pick<AccountLimits, 'claim'>,
  monotonic: () => number,
) {
  function endFor(account: LeasedAccount, taken: LeasedClaim, used: Used): void {
    if (end(account.counters, taken, used)) changed(account);
  }

  /** Creates the claim; `own` is the claim on the node's own limits, and ends with it. */
  function open(
    account: LeasedAccount,
    request: ClaimRequest,
    { taken, own, view }: { taken: LeasedClaim; own: Claim; view: LimitView },
  ): Claim {
    return {
      view,
      outputBound: request.outputBound,
      freeSlot() {
        own.freeSlot();
        if (freeSlot(account.counters, taken)) changed(account);
      },
      settle(usedTokens) {
        own.settle(usedTokens);
        endFor(account, taken, { tokens: usedTokens });
      },
      cancel(keeps) {
        // The result is not needed, so it is not awaited.
        void own.cancel(keeps);
        endFor(account, taken, keeps ?? 'nothing');
        const nowMs = monotonic();
        roll(account, nowMs);
        return viewAt(account.counters, request, nowMs);
      },
    };
  }

  return {
    open,
    /** Takes what was leased, or what the node's own limits granted. */
    take({ counters }: LeasedAccount, request: ClaimRequest, need: Need): LeasedClaim {
      const nowMs = monotonic();
      const claim = {
        requestId: request.requestId,
        leaseUntil: nowMs + LEASE_MS,
        hasSlot: true,
        hasEnded: false,
        tokens: need.take[1],
        counters: take(counters, need, nowMs),
      };
      counters.claims.add(claim);
      return claim;
    },
    /** Counts what was taken in the node's own limits, too. */
    count(
      account: LeasedAccount,
      request: ClaimRequest,
      taken: LeasedClaim,
    ): Awaitable<ClaimResult> {
      const view = viewAt(account.counters, request, monotonic());
      const done = (result: ClaimResult): ClaimResult => {
        if (result.kind === 'claimed') {
          const claim = open(account, request, { taken, own: result.claim, view });
          return { kind: 'claimed', claim };
        }
        endFor(account, taken, 'nothing');
        return result;
      };
      const plan = countingPlan(request.plan);
      const result = local.claim({ ...request, plan, incident: undefined });
      if (!(result instanceof Promise)) return done(result);
      return result.then(done, (error: unknown) => {
        // The ledger is unavailable, and no caller will end this claim.
        endFor(account, taken, 'nothing');
        throw error;
      });
    },
  };
}

/** Effectively unlimited. */
const PLENTY = 1_000_000_000;

/** A plan that counts everything and refuses nothing. */
export function countingPlan({ dailyTokens, monthlyTokens, ...plan }: Plan): Plan {
  return {
    ...plan,
    requestsPerMinute: PLENTY,
    tokensPerMinute: PLENTY,
    concurrentRequests: PLENTY,
  };
}
