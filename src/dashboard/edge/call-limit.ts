// Limits how many calls a minute an account or a token may make: calls that each leave a row for
// good, and reads. It counts in memory, so each node has a limit of its own.

import { putLast } from '../../core/recent.ts';
import {
  createWindow,
  type RateWindow,
  resetSeconds,
  rollWindow,
  takeFrom,
} from '../../core/window.ts';
import { DashboardError } from './error.ts';

/**
 * Changes of an account in the dashboard, and of the own sign-in by each session: far more than pages
 * make, and few enough that accounts without a balance cannot keep the database busy or fill it with
 * audit events.
 */
export const CHANGES = { perMinute: 60, what: 'changes' } as const;

/** Reads of an account in the dashboard: more than its pages make, however fast a user opens them. */
export const READS = { perMinute: 600, what: 'reads' } as const;

/** Calls of a token of the operators' API, each an event of the audit trail. */
export const CALLS = { perMinute: 600, what: 'calls' } as const;

/** Above this many callers, the one that called longest ago is not counted any more. */
const CALLERS_MAX = 10_000;

/** Counts a call of a caller. Throws `too_many_attempts`, which counts nothing. */
export type CallLimit = (caller: string) => void;

export function createCallLimit(options: {
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  readonly perMinute: number;
  /** For the message. */
  readonly what: 'changes' | 'reads' | 'calls';
  readonly callersMax?: number;
}): CallLimit {
  const { monotonic, perMinute, what, callersMax = CALLERS_MAX } = options;
  const windows = new Map<string, RateWindow>();

  return (caller) => {
    const nowMs = monotonic();
    const window = rollWindow(windows.get(caller) ?? createWindow(), nowMs);
    if (window.requests >= perMinute) {
      const seconds = resetSeconds(window, nowMs);
      throw new DashboardError(
        'too_many_attempts',
        `The limit of ${perMinute} ${what} a minute is reached. Try again in ${seconds} seconds.`,
        { retryAfterSeconds: seconds },
      );
    }
    takeFrom(window, 0, nowMs);
    putLast(windows, caller, window, callersMax);
  };
}
