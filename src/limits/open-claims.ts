// The open claims. Each holds its slot by a lease that is renewed for as long as its request lives.

import type { OpenClaimRecord } from './contract.ts';

/** How long a lease lasts before its request is checked. */
export const LEASE_MS = 30_000;

type Leased = OpenClaimRecord & {
  leaseUntil: number;
  /** Called when its request is gone. */
  readonly lose: () => void;
};

export class OpenClaims<Claim extends Leased> {
  readonly #isLive: (requestId: string) => boolean;
  /** In order of lease expiry. */
  readonly #claims = new Set<Claim>();
  /** No lease expires before this time. */
  #lookAt = 0;

  constructor(isLive: (requestId: string) => boolean) {
    this.#isLive = isLive;
  }

  add(claim: Claim): void {
    if (this.#claims.size === 0) this.#lookAt = claim.leaseUntil;
    this.#claims.add(claim);
  }

  remove(claim: Claim): void {
    this.#claims.delete(claim);
  }

  /** Renews leases and ends the claims, of one account or all, whose request is gone. */
  roll(nowMs: number, accountId?: string): void {
    if (nowMs < this.#lookAt) return;
    let lookAt = Infinity;
    for (const claim of this.#claims) {
      if (claim.leaseUntil > nowMs) {
        lookAt = Math.min(lookAt, claim.leaseUntil);
        break;
      }
      if (this.#isLive(claim.requestId)) {
        this.#claims.delete(claim);
        claim.leaseUntil = nowMs + LEASE_MS;
        this.#claims.add(claim);
      } else if (accountId === undefined || claim.accountId === accountId) {
        this.#claims.delete(claim);
        claim.lose();
      } else {
        lookAt = nowMs;
      }
    }
    this.#lookAt = lookAt;
  }

  /** All open claims, including, for the last time, those whose request is gone. */
  list(nowMs: number): OpenClaimRecord[] {
    const listed = Array.from(this.#claims, ({ requestId, accountId, startedAt }) => {
      return { requestId, accountId, startedAt };
    });
    this.roll(nowMs);
    return listed;
  }
}
