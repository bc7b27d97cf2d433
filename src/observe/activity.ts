// Keeps the recent activity of a server for the operator's console: one row per minute for three
// hours and the last failed attempts of each upstream. Bounded; a request costs a few
// additions.

import type { Activity, ActivityMinute, FailedAttempt, UpstreamMinute } from '../core/activity.ts';
import { FAILURES, type FailureClass } from '../core/failure.ts';
import type { Trouble } from '../core/health.ts';
import { add, ZERO } from '../core/money.ts';
import { GENERATES, type RequestSummary } from '../core/request-summary.ts';

const MINUTE_MS = 60_000;
const MINUTES_KEPT = 180;
const FAILURES_KEPT = 50;

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };
type Minute = Writable<ActivityMinute> & {
  readonly upstreams: Map<string, Writable<UpstreamMinute>>;
  lagMs: number;
};

type ActivityRecorder = Activity & {
  readonly request: (summary: RequestSummary) => void;
  readonly loopLag: (seconds: number) => void;
};

export function createActivity({ clock }: { readonly clock: () => number }): ActivityRecorder {
  /** By the number of the minute. */
  const minutes = new Map<number, Minute>();
  const failures = new Map<string, FailedAttempt[]>();
  const last = createLastAttempts(clock);

  const current = (): Minute => {
    const number = Math.floor(clock() / MINUTE_MS);
    let minute = minutes.get(number);
    if (minute === undefined) {
      minute = { ...emptyMinute(number), upstreams: new Map(), lagMs: 0 };
      minutes.set(number, minute);
      for (const old of minutes.keys()) {
        // Bounds the map even if the wall clock jumps.
        if (Math.abs(number - old) >= MINUTES_KEPT) minutes.delete(old);
      }
    }
    return minute;
  };

  function lastNumbers(count: number): number[] {
    const last = Math.floor(clock() / MINUTE_MS);
    const length = Math.min(count, MINUTES_KEPT);
    return Array.from({ length }, (_, index) => last - length + 1 + index);
  }

  function attempts(minute: Minute, { requestId, answer }: RequestSummary): void {
    for (const attempt of answer?.attempts ?? []) {
      const { upstream, model, credential, failure, startedAt, endedAt } = attempt;
      // An attempt without a credential never reached the upstream.
      if (credential === undefined) continue;
      const row = upstreamOf(minute, upstream);
      row.attempts += 1;
      last.note(upstream, model, failure);
      if (failure === undefined) continue;
      row.failed += 1;
      const own = failures.getOrInsert(upstream, []);
      const durationMs = Math.max(0, endedAt - startedAt);
      own.unshift({ at: endedAt, requestId, model, credential, failure, durationMs });
      own.length = Math.min(own.length, FAILURES_KEPT);
    }
    if (answer?.upstream === undefined) return;
    upstreamOf(minute, answer.upstream).outputTokens += answer.usage.outputTokens;
  }

  return {
    request(summary) {
      if (!GENERATES.has(summary.route)) return;
      const minute = current();
      minute.requests += 1;
      minute[endOf(summary)] += 1;
      const { answer } = summary;
      if (answer === undefined) return;
      minute.inputTokens += answer.usage.inputTokens;
      minute.outputTokens += answer.usage.outputTokens;
      minute.debited = add(minute.debited, answer.debited);
      attempts(minute, summary);
    },
    loopLag(seconds) {
      const minute = current();
      minute.lagMs = Math.max(minute.lagMs, seconds * 1_000);
    },
    minutes: (count) =>
      lastNumbers(count).map((number) => {
        const minute = minutes.get(number);
        if (minute === undefined) return emptyMinute(number);
        const { upstreams: _, lagMs: __, ...row } = minute;
        return row;
      }),
    upstreamMinutes: (upstream, count) =>
      lastNumbers(count).map(
        (number) => minutes.get(number)?.upstreams.get(upstream) ?? emptyUpstreamMinute(number),
      ),
    trouble: last.trouble,
    answered: last.answered,
    forget: last.forget,
    failures: (upstream) => failures.get(upstream) ?? [],
    loopLagMs: () => Math.max(...lastNumbers(2).map((number) => minutes.get(number)?.lagMs ?? 0)),
  };
}

/** The counter of a minute for a request. */
function endOf({
  status,
  code,
  answer,
}: RequestSummary): 'ok' | 'refused' | 'failed' | 'cancelled' {
  const outcome = answer?.outcome;
  if (outcome === 'upstream_failed' || outcome === 'gateway_failed') return 'failed';
  if (outcome === 'client_cancelled' || status === 499) return 'cancelled';
  // The operator has set maintenance; it is not a failure.
  if (code === 'maintenance_mode') return 'refused';
  if (status >= 500) return 'failed';
  return status >= 400 ? 'refused' : 'ok';
}

function emptyMinute(number: number): Writable<ActivityMinute> {
  return {
    at: number * MINUTE_MS,
    requests: 0,
    ok: 0,
    refused: 0,
    failed: 0,
    cancelled: 0,
    inputTokens: 0,
    outputTokens: 0,
    debited: ZERO,
  };
}

function emptyUpstreamMinute(number: number): Writable<UpstreamMinute> {
  return { at: number * MINUTE_MS, attempts: 0, failed: 0, outputTokens: 0 };
}

function upstreamOf({ at, upstreams }: Minute, id: string): Writable<UpstreamMinute> {
  return upstreams.getOrInsertComputed(id, () => emptyUpstreamMinute(at / MINUTE_MS));
}

/** Fewer failures in a row may be those of one client. */
const IN_ROW_MIN = 3;

/** Older attempts say nothing about now. */
const COUNTS_FOR_MS = 3_600_000;

/** `failed` and `faults` are of attempts in a row; a time is -Infinity where there was none. */
type Row = { failed: number; faults: number; failedAt: number; answeredAt: number };

/**
 * How the last attempts at each upstream and model ended, so that a model is healthy only where it
 * answered, even if its circuit breaker is off or has not opened. Bounded by the catalog.
 */
function createLastAttempts(clock: () => number) {
  const upstreams = new Map<string, Map<string, Row>>();
  const rowOf = (upstream: string, model: string) => upstreams.get(upstream)?.get(model);
  const isRecent = (at: number) => clock() - at <= COUNTS_FOR_MS;
  return {
    /** `failure` is absent where the attempt served. */
    note(upstream: string, model: string, failure: FailureClass | undefined): void {
      const models = upstreams.getOrInsertComputed(upstream, () => new Map());
      const row = models.getOrInsertComputed(model, () => ({ ...NO_ATTEMPTS }));
      if (failure === undefined) {
        Object.assign(row, NO_ATTEMPTS, { answeredAt: clock() });
        return;
      }
      row.failed += 1;
      if (FAILURES[failure].fault !== 'neither') row.faults += 1;
      row.failedAt = clock();
    },
    /** Failures that are not the upstream's fault may be those of its clients. */
    trouble(upstream: string, model: string): Trouble | undefined {
      const row = rowOf(upstream, model);
      if (row === undefined || !isRecent(row.failedAt)) return undefined;
      if (row.faults >= IN_ROW_MIN) return 'failing';
      return row.failed >= IN_ROW_MIN ? 'degraded' : undefined;
    },
    answered: (upstream: string, model: string): boolean =>
      isRecent(rowOf(upstream, model)?.answeredAt ?? NEVER),
    forget: (upstream: string): void => {
      upstreams.delete(upstream);
    },
  };
}

const NEVER = -Infinity;

const NO_ATTEMPTS: Readonly<Row> = { failed: 0, faults: 0, failedAt: NEVER, answeredAt: NEVER };
