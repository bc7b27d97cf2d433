// Limits how many calls an account or a token may make in a time: calls that each leave a row for
// good, and reads. It counts in memory, so each node has a limit of its own.

import { putLast } from '../../core/recent.ts';
import type { SignedInCustomer } from '../../identity/signed-in.ts';
import { DashboardError } from './error.ts';
import type { Route } from './route.ts';

/**
 * Changes of an account in the dashboard, and of the own sign-in by each session: far more than pages
 * make, and few enough that accounts without a balance cannot keep the database busy.
 */
const CHANGES = { most: 60, per: 'minute', what: 'changes' } as const;

/**
 * Audit events are never removed. A change leaves three of them at most, some 3 KB with their indexes:
 * this allows an account 15 MB a day.
 */
const LASTING_CHANGES = { most: 200, per: 'hour', what: 'changes' } as const;

/** Reads of an account in the dashboard: more than its pages make, however fast a user opens them. */
export const READS = { most: 600, per: 'minute', what: 'reads' } as const;

/** Calls of a token of the operators' API, each an event of the audit trail. */
export const CALLS = { most: 600, per: 'minute', what: 'calls' } as const;

const WINDOW_MS = { minute: 60_000, hour: 3_600_000 };

/** Above this many callers, the one that called longest ago is not counted any more. */
const CALLERS_MAX = 10_000;

/** Counts a call of a caller. Throws `too_many_attempts`, which counts nothing. */
export type CallLimit = (caller: string) => void;

type Clock = {
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
};

export function createCallLimit(
  options: Clock & {
    readonly most: number;
    readonly per: 'minute' | 'hour';
    /** For the message. */
    readonly what: 'changes' | 'reads' | 'calls';
    readonly callersMax?: number;
  },
): CallLimit {
  const { monotonic, most, per, what, callersMax = CALLERS_MAX } = options;
  const windowMs = WINDOW_MS[per];
  const windows = new Map<string, { readonly startedAt: number; calls: number }>();

  return (caller) => {
    const nowMs = monotonic();
    const known = windows.get(caller);
    const isOver = known === undefined || nowMs - known.startedAt >= windowMs;
    const window = isOver ? { startedAt: nowMs, calls: 0 } : known;
    if (window.calls >= most) {
      const seconds = Math.ceil((windowMs - (nowMs - window.startedAt)) / 1_000);
      throw new DashboardError(
        'too_many_attempts',
        `The limit of ${most} ${what} ${per === 'hour' ? 'an' : 'a'} ${per} is reached. Try again in ${seconds} seconds.`,
        { retryAfterSeconds: seconds },
      );
    }
    window.calls += 1;
    putLast(windows, caller, window, callersMax);
  };
}

/** Those of changes in the dashboard. */
export function createChangeLimit(
  clock: Clock,
): (
  who: SignedInCustomer,
  route: Pick<Route<SignedInCustomer>, 'access' | 'permission' | 'path'>,
) => void {
  const limitAll = createCallLimit({ ...clock, ...CHANGES });
  const limitLasting = createCallLimit({ ...clock, ...LASTING_CHANGES });
  const limitOwn = createCallLimit({ ...clock, ...CHANGES });

  return ({ accountId, sessionId }, { access, permission, path }) => {
    // By session: a thief of one must not keep its owner from ending it.
    if (access === 'session' && permission === 'sign-in.own') return limitOwn(sessionId);
    limitAll(accountId);
    // Nor from revoking keys, for the rest of the hour. A key is revoked once.
    if (!path.endsWith('/revoke')) limitLasting(accountId);
  };
}
