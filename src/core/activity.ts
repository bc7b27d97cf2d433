// A server's recent activity, kept in memory for operators and reset on restart. The ledger keeps
// the durable record.

import type { Alert } from './alert.ts';
import type { FailureClass } from './failure.ts';
import type { Trouble } from './health.ts';
import type { Micro } from './money.ts';

/** Generations that ended within one minute. */
export type ActivityMinute = {
  /** Start, in Unix milliseconds. */
  readonly at: number;
  readonly requests: number;
  /** How many of them ended in each way. */
  readonly ok: number;
  /** Refused with 4xx: the caller has to change the request. */
  readonly refused: number;
  /** Failed because of an upstream or the gateway. */
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
  /** Output tokens of its answers. */
  readonly outputTokens: number;
};

export type FailedAttempt = {
  /** End, in Unix milliseconds. */
  readonly at: number;
  readonly requestId: string;
  readonly model: string;
  readonly credential: string;
  readonly failure: FailureClass;
  readonly durationMs: number;
};

/** Alerts of one kind and subject. */
export type AlertGroup = {
  /** The latest one. */
  readonly alert: Alert;
  /** From `alertSubject`. */
  readonly subject: string;
  readonly count: number;
  /** Unix milliseconds. */
  readonly firstAt: number;
  readonly lastAt: number;
};

export type Activity = {
  /** The last `count` minutes, oldest first. The last one is still running. */
  readonly minutes: (count: number) => readonly ActivityMinute[];
  readonly upstreamMinutes: (upstream: string, count: number) => readonly UpstreamMinute[];
  /** Newest first. */
  readonly failures: (upstream: string) => readonly FailedAttempt[];
  /** What the last attempts at an upstream say about a model there. */
  readonly trouble: (upstream: string, model: string) => Trouble | undefined;
  /** Whether the model answered there within the last hour. */
  readonly answered: (upstream: string, model: string) => boolean;
  /** Forgets the last attempts at an upstream that an operator has repaired. */
  readonly forget: (upstream: string) => void;
  /** The longest event-loop delay within the last minute, in milliseconds. */
  readonly loopLagMs: () => number;
};
