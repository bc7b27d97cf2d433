// Lets no more requests of an account be checked and counted at once than its request window has left:
// a request that is refused for its body, its length or its balance uses up one of the minute, and
// until it does, the next ones wait. Where the window is full, not even the body is read. So a flood of
// refusals costs what the plan allows.

import type { Awaitable } from '../async/awaitable.ts';
import { GatewayError } from '../core/error.ts';
import type { LimitView, Plan } from '../core/plan.ts';
import type { AccountLimits } from '../limits/contract.ts';

export class RequestEntrance {
  readonly #limits: Pick<AccountLimits, 'left' | 'countRefused'>;
  /** How many are inside, by account, and what wakes those that wait for a place. */
  readonly #inside = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(limits: Pick<AccountLimits, 'left' | 'countRefused'>) {
    this.#limits = limits;
  }

  /** Throws `rate_limit_exceeded` where the window is full. To be asked before the body is read. */
  look(accountId: string, plan: Plan): Awaitable<number> {
    const view = this.#limits.left(accountId, plan);
    return view instanceof Promise ? view.then(requireRoom) : requireRoom(view);
  }

  /** Throws `rate_limit_exceeded` where the window is full. Who has entered has to `leave`. */
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

  /** The request may claim now, or was refused. */
  leave(accountId: string, plan: Plan, refusal?: unknown): Awaitable<void> {
    if (!usesUpRequest(refusal)) return this.#givePlace(accountId);
    // Books that cannot be read change nothing about the refusal.
    const counted = this.#limits.countRefused(accountId, plan).catch(() => undefined);
    return counted.then(() => this.#givePlace(accountId));
  }

  /** Waits for a place, or for the books. */
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

  /** Resolves when the one before has entered, has left or was refused. */
  #place(accountId: string): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(accountId);
      if (waiting === undefined) this.#waiting.set(accountId, [resolve]);
      else waiting.push(resolve);
    });
  }

  /** In a turn of its own: what has just left has claimed by then. */
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
 * Refusals by limits and failures of ours use up nothing. A request that its balance refuses has
 * claimed by then, and its claim is counted.
 */
function usesUpRequest(error: unknown): boolean {
  if (!(error instanceof GatewayError) || error.code === 'insufficient_balance') return false;
  return error.status < 500 && error.status !== 429;
}
