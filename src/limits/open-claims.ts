// The claims of this thread that have not ended. Each holds its slot by a lease, which is renewed for
// as long as its request lives.

import type { OpenClaimRecord } from './contract.ts';

/** How long a slot is held before it is asked whether its request still lives. */
export const LEASE_MS = 30_000;

type Leased = OpenClaimRecord & { leaseUntil: number };

/** `release` lets go of what a claim has whose request is gone. */
export function createOpenClaims<Claim extends Leased>(
  isLive: (requestId: string) => boolean,
  release: (lost: Claim) => void,
) {
  /** By the ends of their leases. */
  const claims = new Set<Claim>();

  /** Renews leases, and ends the claims of an account, or all, whose request is gone. */
  function roll(nowMs: number, accountId?: string): void {
    for (const claim of claims) {
      if (claim.leaseUntil > nowMs) return;
      if (isLive(claim.requestId)) {
        claims.delete(claim);
        claim.leaseUntil = nowMs + LEASE_MS;
        claims.add(claim);
      } else if (accountId === undefined || claim.accountId === accountId) {
        claims.delete(claim);
        release(claim);
      }
    }
  }

  return {
    add: (claim: Claim): void => void claims.add(claim),
    /** Whether it had not ended yet. */
    remove: (claim: Claim): boolean => claims.delete(claim),
    roll,
    /** All of them, and those whose request is gone for the last time. */
    list(nowMs: number): OpenClaimRecord[] {
      const listed = Array.from(claims, ({ requestId, accountId, startedAt }) => {
        return { requestId, accountId, startedAt };
      });
      roll(nowMs);
      return listed;
    },
  };
}
