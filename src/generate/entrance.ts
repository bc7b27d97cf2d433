// Bounds how many requests of an account are checked and counted concurrently to what its request
// window has left. A request refused for its body, length or balance uses one request of that
// window; until that is known, later ones wait. If the window is full, the body is not read. A
// flood of refusals therefore costs no more than the plan allows.

import type { Awaitable } from '../async/awaitable.ts';
import { GatewayError } from '../core/error.ts';
import type { LimitView, Plan } from '../core/plan.ts';
import type { AccountLimits } from '../limits/contract.ts';

export class RequestEntrance {
  readonly #limits: Pick<AccountLimits, 'left' | 'countRefused'>;
  /** Requests inside by account, and the callbacks of those waiting for a place. */
  readonly #inside = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(limits: Pick<AccountLimits, 'left' | 'countRefused'>) {
    this.#limits = limits;
  }

  /** Throws `rate_limit_exceeded` if the window is full. Call it before reading the body. */
  look(accountId: string, plan: Plan): Awaitable<number> {
    const view = this.#limits.left(accountId, plan);
    return view instanceof Promise ? view.then(requireRoom) : requireRoom(view);
  }

  /** Throws `rate_limit_exceeded` if the window is full. Each `enter` needs a `leave`. */
  enter(accountId: string, plan: Plan): Awaitable<void> {
    let remaining: Awaitable<number>;
    try {
      remaining = this.look(accountId, plan);
    } catch (error) {
      this.#wakeNext(accountId);
      throw error;
    }
    if (!(remaining instanceof Promise) && this.#takePlace(accountId, remaining)) return;
    return this.#enterLate(accountId, plan, remaining);
  }

  /** Call when the request is ready to claim limits, or was refused. */
  leave(accountId: string, plan: Plan, refusal?: unknown): Awaitable<void> {
    return usesUpRequest(refusal) ? this.leaveCounted(accountId, plan) : this.#givePlace(accountId);
  }

  /** Leaves, and uses up one request of the window but no tokens: a refusal, or a repeat. */
  async leaveCounted(accountId: string, plan: Plan): Promise<void> {
    // A failed ledger read does not change the answer.
    await this.#limits.countRefused(accountId, plan).catch(() => undefined);
    this.#givePlace(accountId);
  }

  /** Waits for a place, or for the ledger. */
  async #enterLate(accountId: string, plan: Plan, first: Awaitable<number>): Promise<void> {
    try {
      let remaining = await first;
      while (!this.#takePlace(accountId, remaining)) {
        await this.#place(accountId);
        remaining = await this.look(accountId, plan);
      }
    } catch (error) {
      this.#wakeNext(accountId);
      throw error;
    }
  }

  #takePlace(accountId: string, remaining: number): boolean {
    const inside = this.#inside.get(accountId) ?? 0;
    if (inside >= remaining) return false;
    this.#inside.set(accountId, inside + 1);
    this.#wakeNext(accountId);
    return true;
  }

  #givePlace(accountId: string): void {
    const inside = (this.#inside.get(accountId) ?? 0) - 1;
    if (inside > 0) this.#inside.set(accountId, inside);
    else this.#inside.delete(accountId);
    this.#wakeNext(accountId);
  }

  /** Resolves when a place is free: the previous request entered, left or was refused. */
  #place(accountId: string): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(accountId);
      if (waiting === undefined) this.#waiting.set(accountId, [resolve]);
      else waiting.push(resolve);
    });
  }

  /** Runs in a later turn, after the request that left has claimed its limits. */
  #wakeNext(accountId: string): void {
    const waiting = this.#waiting.get(accountId);
    if (waiting === undefined) return;
    if (waiting.length === 0) this.#waiting.delete(accountId);
    else setImmediate(() => waiting.shift()?.());
  }
}

function requireRoom(view: LimitView): number {
  if (view.remainingRequests > 0) return view.remainingRequests;
  const { resetRequestsSeconds: retryAfterSeconds } = view;
  throw new GatewayError('rate_limit_exceeded', { retryAfterSeconds, limits: view });
}

/**
 * Refusals by limits and our own failures use no request. A request refused for its balance has
 * already claimed one, which is counted.
 */
function usesUpRequest(error: unknown): boolean {
  if (!(error instanceof GatewayError) || error.code === 'insufficient_balance') return false;
  return error.status < 500 && error.status !== 429;
}
