// Bounds what requests cost before the limits admit them. A full request window refuses before the
// body is read. The bytes of bodies are bounded (body-room.ts). No more requests of an account are
// checked and counted concurrently than its request window has left: one that is refused for its
// body, length or balance uses one request of that window, and until that is known, later ones wait.
// A flood of refusals therefore costs no more than the plan allows.

import type { Awaitable } from '../async/awaitable.ts';
import { GatewayError } from '../core/error.ts';
import type { Plan } from '../core/plan.ts';
import type { AccountLeft, AccountLimits } from '../limits/contract.ts';
import { BodyRoom } from './body-room.ts';
import { Places } from './places.ts';

type EntranceOptions = {
  readonly limits: Pick<AccountLimits, 'left' | 'countRefused'>;
  /** The room for bodies. */
  readonly bodyBytes: number;
};

export class RequestEntrance {
  readonly limits: EntranceOptions['limits'];
  readonly bodies: BodyRoom;
  readonly places = new Places();

  constructor({ limits, bodyBytes }: EntranceOptions) {
    this.limits = limits;
    this.bodies = new BodyRoom(bodyBytes);
  }

  /** Call `leave`, `leaveCounted` or `refuse` of the entry in the end. */
  begin(accountId: string, plan: Plan): Entry {
    return new Entry(this, accountId, plan);
  }

  /** Uses up one request of the window but no tokens. */
  async count(accountId: string, plan: Plan): Promise<void> {
    // A failed ledger read does not change the answer.
    await this.limits.countRefused(accountId, plan).catch(() => undefined);
  }
}

/** A request between its key and its claim on the limits. */
class Entry {
  readonly #entrance: RequestEntrance;
  readonly #accountId: string;
  readonly #plan: Plan;
  #bodyBytes = 0;
  #isInside = false;
  #hasLeft = false;

  constructor(entrance: RequestEntrance, accountId: string, plan: Plan) {
    this.#entrance = entrance;
    this.#accountId = accountId;
    this.#plan = plan;
  }

  /** Throws 429 if the window is full. Call it before reading the body. */
  look(): Awaitable<unknown> {
    const left = this.#left();
    return left instanceof Promise ? left.then(requireRequests) : requireRequests(left);
  }

  /** Takes room for so many bytes more of the body, or throws the refusal. */
  take(bytes: number): void {
    // After its deadline, more of a body may arrive until its refusal is sent.
    if (this.#hasLeft) throw new GatewayError('invalid_request');
    this.#entrance.bodies.take(this.#accountId, this.#plan, bytes, this.#bodyBytes);
    this.#bodyBytes += bytes;
  }

  /** Begins the checks. Throws 429 if the window is full. */
  enter(): Awaitable<void> {
    const left = this.#left();
    if (!(left instanceof Promise) && this.#takePlace(left.remainingRequests)) return;
    return this.#enterLate(left);
  }

  /** Call when the request is ready to claim limits. */
  leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    const { bodies, places } = this.#entrance;
    if (this.#bodyBytes > 0) bodies.give(this.#accountId, this.#bodyBytes);
    if (this.#isInside) places.give(this.#accountId);
  }

  /** For a repeat. */
  async leaveCounted(): Promise<void> {
    await this.#entrance.count(this.#accountId, this.#plan);
    this.leave();
  }

  /** Ends it with a refusal, which is counted before a later request takes the place. */
  async refuse(error: unknown): Promise<void> {
    if (this.#isInside && usesRequest(error)) {
      await this.#entrance.count(this.#accountId, this.#plan);
    }
    this.leave();
  }

  #left(): Awaitable<AccountLeft> {
    return this.#entrance.limits.left(this.#accountId, this.#plan);
  }

  /** Waits for a place, or for the ledger. */
  async #enterLate(first: Awaitable<AccountLeft>): Promise<void> {
    const { places } = this.#entrance;
    try {
      let left = await first;
      while (!this.#takePlace(requireRequests(left))) {
        await places.wait(this.#accountId);
        left = await this.#left();
      }
    } catch (error) {
      places.wakeNext(this.#accountId);
      throw error;
    }
  }

  #takePlace(most: number): boolean {
    this.#isInside = this.#entrance.places.take(this.#accountId, most);
    return this.#isInside;
  }
}

function requireRequests(left: AccountLeft): number {
  if (left.remainingRequests > 0) return left.remainingRequests;
  const { resetRequestsSeconds: retryAfterSeconds } = left;
  throw new GatewayError('rate_limit_exceeded', { retryAfterSeconds, limits: left });
}

/**
 * Refusals by limits and our own failures use no request. A request refused for its balance has
 * already claimed one, which is counted.
 */
function usesRequest(error: unknown): boolean {
  if (!(error instanceof GatewayError) || error.code === 'insufficient_balance') return false;
  return error.status < 500 && error.status !== 429;
}
