// Bounds the bytes of request bodies in memory until the limits admit their requests; from then on
// concurrent requests are the bound (decision 0161). A body counts as its bytes arrive.

import { CONCURRENCY_RETRY_SECONDS } from '../core/admit.ts';
import { takeOff } from '../core/counts.ts';
import { GatewayError } from '../core/error.ts';
import type { Plan } from '../core/plan.ts';
import { BODY_BYTES_MAX } from '../wire/limits.ts';

const ROOM_BYTES = 536_870_912;

/** The share of this machine's memory that bodies may use. */
const MEMORY_SHARE = 1 / 4;

/** The share of the room that one account may use. */
const ACCOUNT_SHARE = 1 / 4;

/** The share that large bodies may use, so that small ones still get in. */
const LARGE_SHARE = 3 / 4;
const LARGE_FROM_BYTES = 65_536;

/** Bodies of the largest size per concurrent request: one is served, the next one arrives. */
const BODIES_PER_SLOT = 2;

/** The room on a machine or in a container with this much memory. */
export function roomBytes(memoryBytes: number): number {
  return Math.min(ROOM_BYTES, memoryBytes * MEMORY_SHARE);
}

export class BodyRoom {
  readonly #most: number;
  readonly #byAccount = new Map<string, number>();
  #bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /**
   * Takes room for `bytes` of a body that has `before` already. Throws 429 if they exceed the share
   * of the account, 503 if they exceed the room.
   */
  take(accountId: string, plan: Plan, bytes: number, before: number): void {
    const ofAccount = (this.#byAccount.get(accountId) ?? 0) + bytes;
    const ofPlan = plan.concurrentRequests * BODIES_PER_SLOT * BODY_BYTES_MAX;
    if (ofAccount > Math.min(ofPlan, this.#most * ACCOUNT_SHARE)) throw tooManyBodies();
    const share = before + bytes > LARGE_FROM_BYTES ? LARGE_SHARE : 1;
    if (this.#bytes + bytes > this.#most * share) throw crowded();
    this.#bytes += bytes;
    this.#byAccount.set(accountId, ofAccount);
  }

  give(accountId: string, bytes: number): void {
    this.#bytes -= bytes;
    takeOff(this.#byAccount, accountId, bytes);
  }
}

function tooManyBodies(): GatewayError {
  return new GatewayError('concurrency_limit_exceeded', {
    message:
      'The requests that this account is sending, or that wait for an answer, are too large together. Retry when one of them has ended.',
    retryAfterSeconds: CONCURRENCY_RETRY_SECONDS,
  });
}

function crowded(): GatewayError {
  return new GatewayError('provider_unavailable', {
    message:
      'The server is receiving as many requests as it has memory for. Nothing was charged. Retry with back-off.',
  });
}
