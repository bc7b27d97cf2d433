// Lets no more requests of an account be checked and counted at once than its request window has left:
// a request that is refused for its body, its length or its balance uses up one of the minute, and
// until it does, the next ones wait. Where the window is full, not even the body is read. So a flood of
// refusals costs what the plan allows.

import type { Awaitable } from '../async/awaitable.ts';
import { GatewayError } from '../core/error.ts';
import type { LimitView, Plan } from '../core/plan.ts';
import type { AccountLimits } from '../limits/contract.ts';

type Place = { inside: number; readonly waiting: (() => void)[] };

export class RequestEntrance {
  readonly #limits: Pick<AccountLimits, 'left' | 'countRefused'>;
  readonly #places = new Map<string, Place>();

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
        await new Promise<void>((resolve) => this.#placeOf(accountId).waiting.push(resolve));
        remaining = await this.look(accountId, plan);
      }
    } catch (error) {
      this.#wakeNext(accountId);
      throw error;
    }
  }

  #takePlace(accountId: string, remaining: number): boolean {
    const place = this.#placeOf(accountId);
    if (place.inside >= remaining) return false;
    place.inside += 1;
    this.#wakeNext(accountId);
    return true;
  }

  #givePlace(accountId: string): void {
    this.#placeOf(accountId).inside -= 1;
    this.#wakeNext(accountId);
  }

  #placeOf(accountId: string): Place {
    let place = this.#places.get(accountId);
    if (place === undefined) {
      place = { inside: 0, waiting: [] };
      this.#places.set(accountId, place);
    }
    return place;
  }

  /** In a turn of its own: what has just left has claimed by then. */
  #wakeNext(accountId: string): void {
    const place = this.#places.get(accountId);
    if (place === undefined) return;
    if (place.waiting.length > 0) setImmediate(() => place.waiting.shift()?.());
    else if (place.inside === 0) this.#places.delete(accountId);
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
