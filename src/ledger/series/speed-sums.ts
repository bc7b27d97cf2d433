// Sums how fast answers were and how attempts failed, by account and by upstream. Pure.

import { DAY_MS } from '../../core/calendar.ts';
import type { FailureClass } from '../../core/failure.ts';
import { bucketOf, count, type Histogram, merge } from '../../core/histogram.ts';
import type { BookedAttempt } from './attempts.ts';
import { HOUR_MS } from './figures.ts';

export type Speeds = {
  /** Milliseconds from the start to the first content, and to the end of complete answers. */
  readonly firstContent: Histogram;
  readonly duration: Histogram;
  /** Output tokens of complete answers in ten seconds of their delivery. */
  readonly speed: Histogram;
  /** Requests, or attempts that reached the upstream. */
  attempts: number;
  failed: number;
  /** Failed attempts by class, in the order of `FAILURE_CLASSES`. */
  readonly failures: Histogram;
};

/** One hour or one day (`length`, in milliseconds) of an account or upstream, and a model. */
export type SpeedSum = Speeds & {
  /** The id of an account, or `upstream:` and the id of an upstream. */
  readonly subject: string;
  readonly length: number;
  readonly start: number;
  readonly model: string;
};

/** The order in which the database counts them. New classes go at the end. */
export const FAILURE_CLASSES: readonly FailureClass[] = [
  ...(['unreachable', 'timeout', 'rate_limited', 'overloaded', 'no_capacity'] as const),
  ...(['credential', 'server_error', 'mismatch', 'bad_request', 'context_length'] as const),
  ...(['unsupported', 'malformed', 'cut', 'gateway'] as const),
  ...(['content_policy', 'too_large'] as const),
];

export type TimedRequest = {
  readonly accountId: string;
  readonly model: string;
  readonly hour: number;
  readonly startedAt: number;
  readonly durationMs: number;
  readonly failed: number;
  /** Whether the client has the whole answer. */
  readonly isComplete: boolean;
  readonly outputTokens: number;
  readonly attempts: readonly BookedAttempt[];
};

export function emptySpeeds(): Speeds {
  return {
    firstContent: new Map(),
    duration: new Map(),
    speed: new Map(),
    attempts: 0,
    failed: 0,
    failures: new Map(),
  };
}

export function addSpeeds(sum: Speeds, other: Speeds): void {
  merge(sum.firstContent, other.firstContent);
  merge(sum.duration, other.duration);
  merge(sum.speed, other.speed);
  merge(sum.failures, other.failures);
  sum.attempts += other.attempts;
  sum.failed += other.failed;
}

export function speedsOf(requests: readonly TimedRequest[]): readonly SpeedSum[] {
  const sums = new Map<string, SpeedSum>();

  function sumOf(subject: string, model: string, start: number): SpeedSum {
    return sums.getOrInsertComputed(`${subject} ${model} ${start}`, () => ({
      subject,
      length: HOUR_MS,
      start,
      model,
      ...emptySpeeds(),
    }));
  }

  for (const request of requests) {
    addRequest(sumOf(request.accountId, request.model, request.hour), request);
    for (const attempt of request.attempts) {
      const { upstream, model, credential } = attempt;
      // An attempt without a credential never reached the upstream.
      if (upstream === undefined || model === undefined || credential === undefined) continue;
      addAttempt(sumOf(`upstream:${upstream}`, model, request.hour), attempt);
    }
  }
  const hours = [...sums.values()];
  return [...hours, ...daysOf(hours)];
}

function addRequest(sum: Speeds, request: TimedRequest): void {
  const { startedAt, durationMs, failed, isComplete, outputTokens, attempts } = request;
  sum.attempts += 1;
  sum.failed += failed;
  const served = attempts.findLast((attempt) => attempt.failure === undefined);
  const { startedAt: servedAt = startedAt, firstContentMs } = served ?? {};
  const firstMs =
    firstContentMs === undefined ? undefined : Math.max(0, servedAt - startedAt) + firstContentMs;
  addTimes(sum, firstMs, isComplete ? durationMs : undefined, outputTokens);
}

function addAttempt(sum: Speeds, attempt: BookedAttempt): void {
  const { startedAt = 0, endedAt = startedAt, firstContentMs, failure, usage } = attempt;
  sum.attempts += 1;
  const isComplete = failure === undefined;
  addTimes(sum, firstContentMs, isComplete ? endedAt - startedAt : undefined, usage?.outputTokens);
  if (isComplete) return;
  sum.failed += 1;
  const place = FAILURE_CLASSES.indexOf(failure);
  if (place >= 0) count(sum.failures, place);
}

/** `durationMs` is absent where the answer is not complete. */
function addTimes(
  sum: Speeds,
  firstMs: number | undefined,
  durationMs: number | undefined,
  outputTokens = 0,
): void {
  if (firstMs !== undefined) count(sum.firstContent, bucketOf(firstMs));
  if (durationMs === undefined) return;
  count(sum.duration, bucketOf(durationMs));
  const deliveredMs = durationMs - (firstMs ?? 0);
  // What arrives at once, as an answer in one piece, has no speed.
  if (firstMs === undefined || deliveredMs < 1 || outputTokens === 0) return;
  count(sum.speed, bucketOf((outputTokens / deliveredMs) * 10_000));
}

function daysOf(hours: readonly SpeedSum[]): readonly SpeedSum[] {
  const days = new Map<string, SpeedSum>();
  for (const hour of hours) {
    const { subject, model } = hour;
    const start = hour.start - (hour.start % DAY_MS);
    const name = `${subject} ${model} ${start}`;
    const day = days.get(name) ?? { ...hour, length: DAY_MS, start, ...emptySpeeds() };
    addSpeeds(day, hour);
    days.set(name, day);
  }
  return [...days.values()];
}
