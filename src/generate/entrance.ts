// Lets no more requests of an account be checked and counted at once than its request window has left:
// a request that is refused for its body, its length or its balance uses up one of the minute, and
// until it does, the next ones wait. Where the window is full, not even the body is read. So a flood of
// refusals costs what the plan allows.

import { GatewayError } from '../core/error.ts';
import type { LimitView, Plan } from '../core/plan.ts';
import type { AccountLimits } from '../limits/contract.ts';

export type RequestEntrance = ReturnType<typeof createRequestEntrance>;

type Inside = {
  /** The request may claim now, or was refused. */
  readonly leave: (error?: unknown) => Promise<void>;
};

type Place = { inside: number; readonly waiting: (() => void)[] };

export function createRequestEntrance(limits: Pick<AccountLimits, 'left' | 'countRefused'>) {
  const places = new Map<string, Place>();

  function placeOf(accountId: string): Place {
    const place = places.get(accountId) ?? { inside: 0, waiting: [] };
    places.set(accountId, place);
    return place;
  }

  /** In a turn of its own: what has just left has claimed by then. */
  function wakeNext(accountId: string): void {
    const place = places.get(accountId);
    if (place === undefined) return;
    if (place.waiting.length > 0) setImmediate(() => place.waiting.shift()?.());
    else if (place.inside === 0) places.delete(accountId);
  }

  /** Throws `rate_limit_exceeded` where the window is full. To be asked before the body is read. */
  async function look(accountId: string, plan: Plan): Promise<LimitView> {
    const view = await limits.left(accountId, plan);
    if (view.remainingRequests > 0) return view;
    const { resetRequestsSeconds: retryAfterSeconds } = view;
    throw new GatewayError('rate_limit_exceeded', { retryAfterSeconds, limits: view });
  }

  return {
    look,
    /** Throws `rate_limit_exceeded` where the window is full; else resolves to the way out. */
    async enter(accountId: string, plan: Plan): Promise<Inside> {
      for (;;) {
        const view = await look(accountId, plan).catch((error: unknown) => {
          wakeNext(accountId);
          throw error;
        });
        const place = placeOf(accountId);
        if (place.inside < view.remainingRequests) {
          place.inside += 1;
          wakeNext(accountId);
          break;
        }
        await new Promise<void>((resolve) => place.waiting.push(resolve));
      }
      return {
        async leave(error) {
          // Books that cannot be read change nothing about the refusal.
          if (usesUpRequest(error)) await limits.countRefused(accountId, plan).catch(ignore);
          placeOf(accountId).inside -= 1;
          wakeNext(accountId);
        },
      };
    },
  };
}

function ignore(): void {}

/**
 * Refusals by limits and failures of ours use up nothing. A request that its balance refuses has
 * claimed by then, and its claim is counted.
 */
function usesUpRequest(error: unknown): boolean {
  if (!(error instanceof GatewayError) || error.code === 'insufficient_balance') return false;
  return error.status < 500 && error.status !== 429;
}
