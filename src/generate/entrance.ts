// Bounds what requests cost before the limits admit them. A full request window, or no free slot,
// refuses before the body is read. The bytes of bodies are bounded (body-room.ts). No more requests
// of an account are checked and counted concurrently than its request window has left: one that is
// refused for its body, length or balance uses one request of that window, and until that is known,
// later ones wait. A flood of refusals therefore costs no more than the plan allows.

import type { Awaitable } from '../async/awaitable.ts';
import { CONCURRENCY_RETRY_SECONDS } from '../core/admit.ts';
import { GatewayError } from '../core/error.ts';
import { lookedUpCalls, type Plan } from '../core/plan.ts';
import type { AccountLeft, AccountLimits } from '../limits/contract.ts';
import { BodyRoom } from './body-room.ts';
import { createMinuteBudgets, type MinuteBudgets, requireBudget } from './minute-budget.ts';
import { Places } from './places.ts';

/**
 * How long a refusal waits before a second check while another request of the account is ending.
 * Clients retry an abandoned request immediately on a new connection, so the retry can arrive
 * before the disconnect of the old one.
 */
export const SECOND_LOOK_MS = 10;

type EntranceOptions = {
  readonly limits: Pick<AccountLimits, 'left' | 'countRefused'>;
  /** The room for bodies. */
  readonly bodyBytes: number;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
};

export class RequestEntrance {
  readonly limits: EntranceOptions['limits'];
  readonly bodies: BodyRoom;
  readonly places = new Places();
  readonly #freeRefusals: MinuteBudgets;
  readonly #lookups: MinuteBudgets;

  constructor({ limits, bodyBytes, monotonic }: EntranceOptions) {
    this.limits = limits;
    this.bodies = new BodyRoom(bodyBytes);
    this.#freeRefusals = createMinuteBudgets(monotonic);
    this.#lookups = createMinuteBudgets(monotonic);
  }

  /**
   * In the end call `leave` or `refuse` of the entry; or `leavePlace` or `leaveCounted`, and then
   * `giveRoom`.
   */
  begin(accountId: string, plan: Plan): Entry {
    return new Entry(this, accountId, plan);
  }

  /** Uses up one request of the window but no tokens. */
  async count(accountId: string, plan: Plan): Promise<void> {
    // A failed ledger read does not change the answer.
    await this.limits.countRefused(accountId, plan).catch(() => undefined);
  }

  /**
   * Counts a refusal by a limit (429) after the body was read. In each minute as many are free as
   * the plan has requests: an honest client is refused that often when it sends in parallel.
   */
  async countLimited(accountId: string, plan: Plan): Promise<void> {
    const wait = this.#freeRefusals.claim(accountId, plan.requestsPerMinute, 1);
    if (wait !== undefined) await this.count(accountId, plan);
  }

  /**
   * For `count_tokens`, which needs no balance: each tool call is a query of the database. Throws 429
   * if the account has used up its lookups of this minute.
   */
  claimLookups(accountId: string, plan: Plan, calls: number): void {
    const most = lookedUpCalls(plan);
    requireBudget(
      this.#lookups.claim(accountId, most, calls),
      (seconds) =>
        `This account has counted more than ${most} tool calls in a minute. Retry after ${seconds} seconds.`,
    );
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

  /**
   * Throws 429 if the window is full, or if no slot is free and the request needs one. Call it
   * before reading the body.
   */
  look(needsSlot?: () => Promise<boolean>): Awaitable<void> {
    const left = this.#left();
    return left instanceof Promise
      ? left.then((late) => this.#require(late, needsSlot))
      : this.#require(left, needsSlot);
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
    this.leavePlace();
    this.giveRoom();
  }

  /** For a request whose body is still needed: call `giveRoom` later. */
  leavePlace(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    if (this.#isInside) this.#entrance.places.give(this.#accountId);
  }

  /** As `leavePlace`, for a repeat. */
  async leaveCounted(): Promise<void> {
    await this.#entrance.count(this.#accountId, this.#plan);
    this.leavePlace();
  }

  /** The body is needed no longer. Later calls have no effect. */
  giveRoom(): void {
    if (this.#bodyBytes > 0) this.#entrance.bodies.give(this.#accountId, this.#bodyBytes);
    this.#bodyBytes = 0;
  }

  /** Ends it with a refusal, which is counted before a later request takes the place. */
  async refuse(error: unknown): Promise<void> {
    // A body that finds a defect of ours must not find it without end.
    const counts = error instanceof GatewayError ? usesRequest(error) : this.#isInside;
    if (counts) await this.#entrance.count(this.#accountId, this.#plan);
    else if (error instanceof GatewayError && error.status === 429 && this.#isInside) {
      await this.#entrance.countLimited(this.#accountId, this.#plan);
    }
    this.leave();
  }

  #left(): Awaitable<AccountLeft> {
    return this.#entrance.limits.left(this.#accountId, this.#plan);
  }

  #require(left: AccountLeft, needsSlot?: () => Promise<boolean>): Awaitable<void> {
    requireRequests(left);
    if (left.freeSlots === 0) return this.#requireSlot(needsSlot);
  }

  async #requireSlot(needsSlot?: () => Promise<boolean>): Promise<void> {
    if ((await needsSlot?.()) === false) return;
    await Bun.sleep(SECOND_LOOK_MS);
    const left = await this.#left();
    requireRequests(left);
    if (left.freeSlots > 0) return;
    throw new GatewayError('concurrency_limit_exceeded', {
      retryAfterSeconds: CONCURRENCY_RETRY_SECONDS,
      limits: left,
    });
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
 * Refusals by limits and our own failures are not the request's fault. A request refused for its
 * balance has already claimed one, which is counted.
 */
function usesRequest({ code, status }: GatewayError): boolean {
  return status < 500 && status !== 429 && code !== 'insufficient_balance';
}
