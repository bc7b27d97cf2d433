// A claim of one process: what a request was given, and how it is given back, once. Made by limits.ts.

import type { Awaitable } from '../async/awaitable.ts';
import type { Tokens } from '../core/money.ts';
import type { LimitView } from '../core/plan.ts';
import { giveBack, type RateWindow } from '../core/window.ts';
import type { AccountUse, ModelUse } from './accounts.ts';
import type { Claim, ClaimRequest } from './contract.ts';
import { LEASE_MS, type OpenClaims } from './open-claims.ts';
import type { PeriodUse } from './periods.ts';
import { tokensOf, viewOf } from './scope.ts';

/** What a claim counts in. */
export type Claimed = {
  readonly ofPlan: AccountUse;
  readonly ofModel: ModelUse;
  readonly day: PeriodUse;
  readonly month: PeriodUse;
};

/** What all claims need to end. */
export type ClaimHost = {
  readonly claims: OpenClaims<ProcessClaim>;
  readonly monotonic: () => number;
  /** What is left for a request that has no claim. */
  readonly viewOf: (request: ClaimRequest) => Awaitable<LimitView>;
};

export class ProcessClaim implements Claim {
  readonly view: LimitView;
  leaseUntil: number;
  readonly #host: ClaimHost;
  readonly #request: ClaimRequest;
  readonly #tokens: number;
  readonly #in: Claimed;
  /** Windows are replaced when they have run out: what is given back to an old one counts nowhere. */
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

  /** Its request is gone. What that has used is not known, so all of it stays counted. */
  lose(): void {
    this.#letGo(0);
  }

  /** Corrects the caps by the tokens that were used beyond those that were taken. */
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
