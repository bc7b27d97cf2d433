// Bounds what requests cost before the limits admit them. A full request window, no free slot, or a
// balance below the minimum refuses before the body is read. A connection whose body has not arrived
// counts as a slot, and the bytes of bodies are bounded (body-room.ts). No more requests
// of an account are checked and counted concurrently than its request window has left: one that is
// refused for its body, length or balance uses one request of that window, and until that is known,
// later ones wait. A flood of refusals therefore costs no more than the plan allows.

import type { Awaitable } from '../async/awaitable.ts';
import { discard } from '../async/discard.ts';
import { CONCURRENCY_RETRY_SECONDS } from '../core/admit.ts';
import { takeOff } from '../core/counts.ts';
import { GatewayError } from '../core/error.ts';
import type { Micro } from '../core/money.ts';
import { lookedUpCalls, type Plan } from '../core/plan.ts';
import type { AccountLeft, AccountLimits } from '../limits/contract.ts';
import { BodyRoom } from './body-room.ts';
import type { Funds } from './funds.ts';
import { createMinuteBudgets, type MinuteBudgets, requireBudget } from './minute-budget.ts';
import { Places } from './places.ts';

/**
 * How long a refusal waits before a second check while another request of the account is ending.
 * Clients retry an abandoned request immediately on a new connection, so the retry can arrive
 * before the disconnect of the old one.
 */
export const SECOND_LOOK_MS = 10;

/** Bodies that may be on their way beside the free slots: those of requests in parallel. */
export const ARRIVING_MORE = 8;

type EntranceOptions = {
  readonly funds: Pick<Funds, 'require'>;
  readonly limits: Pick<AccountLimits, 'left' | 'countRefused'>;
  /** The room for bodies. */
  readonly bodyBytes: number;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
};

export class RequestEntrance {
  readonly funds: EntranceOptions['funds'];
  readonly limits: EntranceOptions['limits'];
  /** Bodies on their way, by account. */
  readonly arriving = new Map<string, number>();
  readonly bodies: BodyRoom;
  readonly places = new Places();
  readonly #freeRefusals: MinuteBudgets;
  readonly #lookups: MinuteBudgets;

  constructor({ funds, limits, bodyBytes, monotonic }: EntranceOptions) {
    this.funds = funds;
    this.limits = limits;
    this.bodies = new BodyRoom(bodyBytes);
    this.#freeRefusals = createMinuteBudgets(monotonic);
    this.#lookups = createMinuteBudgets(monotonic);
  }

  /** In the end call `leave`, `leaveCounted` or `refuse` of the entry. */
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
  #body: Uint8Array | undefined;
  #isArriving = false;
  #isInside = false;
  #hasLeft = false;

  constructor(entrance: RequestEntrance, accountId: string, plan: Plan) {
    this.#entrance = entrance;
    this.#accountId = accountId;
    this.#plan = plan;
  }

  /**
   * Call it before reading the body. Throws 429 if the window is full or no slot is free, and 402 if
   * the balance is below `minimum`. One for which `isFirst` is false needs neither slot nor balance.
   */
  look(minimum: Micro, isFirst?: () => Promise<boolean>): Awaitable<void> {
    const left = this.#left();
    if (left instanceof Promise || !this.#mayArrive(left)) {
      return this.#lookAgain(left, minimum, isFirst);
    }
    const funded = this.#entrance.funds.require(this.#accountId, minimum);
    return funded instanceof Promise ? this.#requireFunds(funded, isFirst) : undefined;
  }

  /** As `look`, for `count_tokens`, which takes no slot and needs no balance. */
  async lookForCount(): Promise<void> {
    const { concurrentRequests } = this.#plan;
    if (this.#takeArriving(concurrentRequests)) return;
    await Bun.sleep(SECOND_LOOK_MS);
    if (this.#takeArriving(concurrentRequests)) return;
    const retryAfterSeconds = CONCURRENCY_RETRY_SECONDS;
    throw new GatewayError('concurrency_limit_exceeded', { retryAfterSeconds });
  }

  /** The body is there. Later calls have no effect. */
  arrived(): void {
    if (this.#isArriving) takeOff(this.#entrance.arriving, this.#accountId);
    this.#isArriving = false;
  }

  /** Takes room for so many bytes more of the body, or throws the refusal. */
  take(bytes: number): void {
    // After its deadline, more of a body may arrive until its refusal is sent.
    if (this.#hasLeft) throw new GatewayError('invalid_request');
    this.#entrance.bodies.take(this.#accountId, this.#plan, bytes, this.#bodyBytes);
    this.#bodyBytes += bytes;
  }

  keep(body: Uint8Array): void {
    this.#body = body;
  }

  /** Begins the checks. Throws 429 if the window is full. */
  enter(): Awaitable<void> {
    this.arrived();
    const left = this.#left();
    if (!(left instanceof Promise) && this.#takePlace(left.remainingRequests)) return;
    return this.#enterLate(left);
  }

  /** Call when the request is ready to claim limits. */
  leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.arrived();
    if (this.#isInside) this.#entrance.places.give(this.#accountId);
    if (this.#bodyBytes > 0) this.#entrance.bodies.give(this.#accountId, this.#bodyBytes);
    this.#bodyBytes = 0;
    if (this.#body !== undefined) discard(this.#body);
    this.#body = undefined;
  }

  /** As `leave`, for a repeat, which claims no limits. */
  async leaveCounted(): Promise<void> {
    await this.#entrance.count(this.#accountId, this.#plan);
    this.leave();
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

  async #lookAgain(
    first: Awaitable<AccountLeft>,
    minimum: Micro,
    isFirst?: () => Promise<boolean>,
  ): Promise<void> {
    if (!this.#mayArrive(await first)) {
      if ((await isFirst?.()) === false) return;
      await Bun.sleep(SECOND_LOOK_MS);
      const left = await this.#left();
      if (!this.#mayArrive(left)) {
        throw new GatewayError('concurrency_limit_exceeded', {
          retryAfterSeconds: CONCURRENCY_RETRY_SECONDS,
          limits: left,
        });
      }
    }
    await this.#requireFunds(this.#entrance.funds.require(this.#accountId, minimum), isFirst);
  }

  async #requireFunds(funded: Awaitable<void>, isFirst?: () => Promise<boolean>): Promise<void> {
    try {
      await funded;
    } catch (error) {
      if ((await isFirst?.()) === false) return;
      if (!(error instanceof GatewayError) || error.code !== 'insufficient_balance') throw error;
      await this.#entrance.count(this.#accountId, this.#plan);
      const { code, message } = error;
      throw new GatewayError(code, { message, limits: await this.#left() });
    }
  }

  /** Whether the body may arrive. Throws if the window is full. */
  #mayArrive(left: AccountLeft): boolean {
    requireRequests(left);
    return left.freeSlots > 0 && this.#takeArriving(left.freeSlots);
  }

  #takeArriving(freeSlots: number): boolean {
    const { arriving } = this.#entrance;
    const others = arriving.get(this.#accountId) ?? 0;
    if (others >= freeSlots + ARRIVING_MORE) return false;
    arriving.set(this.#accountId, others + 1);
    this.#isArriving = true;
    return true;
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
 * balance has been counted already.
 */
function usesRequest({ code, status }: GatewayError): boolean {
  return status < 500 && status !== 429 && code !== 'insufficient_balance';
}
