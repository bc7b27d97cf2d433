// A claim within one process: what a request was granted, returned exactly once. Created by
// limits.ts.

import type { Awaitable } from '../async/awaitable.ts';
import type { Tokens } from '../core/money.ts';
import type { LimitView } from '../core/plan.ts';
import { giveBack, type RateWindow } from '../core/window.ts';
import type { AccountUse, ModelUse } from './accounts.ts';
import type { Claim, ClaimRequest } from './contract.ts';
import { LEASE_MS, type OpenClaims } from './open-claims.ts';
import type { PeriodUse } from './periods.ts';
import { tokensOf, viewOf } from './scope.ts';

/** The counters that a claim uses. */
export type Claimed = {
  readonly ofPlan: AccountUse;
  readonly ofModel: ModelUse;
  readonly day: PeriodUse;
  readonly month: PeriodUse;
};

/** Shared by all claims. */
export type ClaimHost = {
  readonly claims: OpenClaims<ProcessClaim>;
  readonly monotonic: () => number;
  /** The remaining limits for a request without a claim. */
  readonly viewOf: (request: ClaimRequest) => Awaitable<LimitView>;
};

export class ProcessClaim implements Claim {
  readonly view: LimitView;
  leaseUntil: number;
  readonly #host: ClaimHost;
  readonly #request: ClaimRequest;
  readonly #tokens: number;
  readonly #in: Claimed;
  /** Expired windows are replaced, so returning to an old one has no effect. */
  readonly #planWindow: RateWindow;
  readonly #modelWindow: RateWindow;
  #hasEnded = false;
  #isOpen = true;
  #hasSlot = true;

  /** Counts the request everywhere. */
  constructor(host: ClaimHost, request: ClaimRequest, claimed: Claimed, nowMs: number) {
    const { ofPlan, ofModel, day, month } = claimed;
    const tokens = tokensOf(request);
    this.leaseUntil = nowMs + LEASE_MS;
    this.#host = host;
    this.#request = request;
    this.#tokens = tokens;
    this.#in = claimed;
    this.#planWindow = ofPlan.window;
    this.#modelWindow = ofModel.window;
    ofPlan.take(tokens, nowMs);
    ofModel.take(tokens, nowMs);
    day.add(tokens, tokens);
    month.add(tokens, tokens);
    this.view = viewOf(request, claimed, nowMs);
    host.claims.add(this);
  }

  get requestId(): string {
    return this.#request.requestId;
  }

  get accountId(): string {
    return this.#request.accountId;
  }

  get startedAt(): number {
    return this.#request.startedAt;
  }

  get outputBound(): Tokens {
    return this.#request.outputBound;
  }

  freeSlot(): void {
    if (!this.#hasSlot) return;
    this.#hasSlot = false;
    this.#in.ofPlan.freeSlot();
    this.#in.ofModel.freeSlot();
  }

  settle(usedTokens: number): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#host.claims.remove(this);
    this.#letGo(usedTokens - this.#tokens);
  }

  cancel(keeps?: 'request'): Awaitable<LimitView> {
    if (!this.#hasEnded) {
      this.settle(0);
      giveBack(this.#planWindow, this.#tokens, keeps);
      giveBack(this.#modelWindow, this.#tokens, keeps);
    }
    return this.#host.viewOf(this.#request);
  }

  /** The request is gone. Its actual usage is unknown, so all of it stays counted. */
  lose(): void {
    this.#letGo(0);
  }

  /** Adds the tokens used beyond the claim to the caps. */
  #letGo(more: number): void {
    const { ofPlan, ofModel, day, month } = this.#in;
    const reserved = this.#isOpen ? -this.#tokens : 0;
    this.freeSlot();
    day.add(more, reserved);
    month.add(more, reserved);
    if (this.#isOpen) {
      ofPlan.end();
      ofModel.end();
    }
    this.#isOpen = false;
    ofPlan.touch(this.#host.monotonic());
  }
}
