// What a server has done lately, as it remembers it for its operators: plain data. It is gone with
// the process; the books have what lasts.

import type { Alert } from './alert.ts';
import type { FailureClass } from './failure.ts';
import type { Micro } from './money.ts';

/** Generations that ended within one minute. */
export type ActivityMinute = {
  /** Unix milliseconds of its beginning. */
  readonly at: number;
  readonly requests: number;
  /** Of those, how many ended in each way. */
  readonly ok: number;
  /** Refused for a reason of the caller's: 4xx. */
  readonly refused: number;
  /** Ended by a failure of an upstream or of ours. */
  readonly failed: number;
  readonly cancelled: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly debited: Micro;
};

/** Attempts at one upstream within one minute. */
export type UpstreamMinute = {
  readonly at: number;
  readonly attempts: number;
  readonly failed: number;
  /** Of the answers that it gave. */
  readonly outputTokens: number;
};

export type FailedAttempt = {
  /** Unix milliseconds of its end. */
  readonly at: number;
  readonly requestId: string;
  readonly model: string;
  readonly credential: string;
  readonly failure: FailureClass;
  readonly durationMs: number;
};

export type RaisedAlert = { readonly at: number; readonly alert: Alert };

export type Activity = {
  /** The last minutes, each of them, oldest first; the last one is not over yet. */
  readonly minutes: (count: number) => readonly ActivityMinute[];
  readonly upstreamMinutes: (upstream: string, count: number) => readonly UpstreamMinute[];
  /** Newest first. */
  readonly failures: (upstream: string) => readonly FailedAttempt[];
  /** Newest first. */
  readonly alerts: () => readonly RaisedAlert[];
  /** How late the event loop was at most within the last minute, in milliseconds. */
  readonly loopLagMs: () => number;
};
