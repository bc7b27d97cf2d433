// The claims that have not ended. Each holds its slot by a lease, which is renewed for as long as its
// request lives.

import type { OpenClaimRecord } from './contract.ts';

/** How long a slot is held before it is asked whether its request still lives. */
export const LEASE_MS = 30_000;

type Leased = OpenClaimRecord & {
  leaseUntil: number;
  /** Its request is gone. */
  readonly lose: () => void;
};

export class OpenClaims<Claim extends Leased> {
  readonly #isLive: (requestId: string) => boolean;
  /** By the ends of their leases. */
  readonly #claims = new Set<Claim>();
  /** Before this, no lease ends. */
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

  /** Renews leases, and ends the claims of an account, or all, whose request is gone. */
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

  /** All of them, and those whose request is gone for the last time. */
  list(nowMs: number): OpenClaimRecord[] {
    const listed = Array.from(this.#claims, ({ requestId, accountId, startedAt }) => {
      return { requestId, accountId, startedAt };
    });
    this.roll(nowMs);
    return listed;
  }
}
