// The history of a request's attempts: candidate, time, outcome and cost to the operator. The route
// and the pipeline write it; the grant stores it with the usage record. It contains no upstream
// text: that goes to operators alone, through `heard`.

import {
  type AttemptPhase,
  type HeardWords,
  saidWords,
  type UpstreamFailure,
} from '../core/failure.ts';
import type { Usage } from '../core/generation.ts';
import { formatTokens } from '../core/money.ts';
import { charge } from '../core/price.ts';
import { reportedCostUsd } from '../core/reported-cost.ts';
import type { AttemptSummary } from '../core/request-summary.ts';
import type { Candidate } from '../core/route.ts';
import { withNamedTier, withUnreportedWrites } from '../core/usage.ts';
import type { Attempt } from '../upstream/attempt.ts';
import type { OutputMeter } from './meter.ts';

/** Stored as JSON. Members may be added, so readers must treat each one as optional. */
export type AttemptEntry = AttemptSummary & {
  readonly upstreamModel: string;
  /** This member and the next are absent if the attempt served the answer. */
  readonly phase?: AttemptPhase;
  readonly detail?: string;
  /** The upstream's report, or our own count if it reported nothing. */
  readonly usage?: Usage;
};

/** An attempt that may have a meter. With a meter, its output was counted. */
export type LoggedAttempt = Attempt & {
  readonly meter?: Pick<OutputMeter, 'output' | 'reported' | 'estimate'> &
    Partial<Pick<OutputMeter, 'raw'>>;
  readonly isSilent?: () => boolean;
};

type Entry<A> =
  | {
      readonly attempt: A;
      readonly failure: UpstreamFailure | undefined;
      readonly endedAt: number;
    }
  | { readonly skipped: AttemptEntry };

const NONE: readonly never[] = [];

export class AttemptLog<A extends LoggedAttempt = LoggedAttempt> {
  /** Unix milliseconds. */
  readonly #clock: () => number;
  /** The estimated prompt of the request. */
  readonly #promptTokens: number;
  readonly #entries: Entry<A>[] = [];
  readonly #requestId: string;
  readonly #heard: (words: HeardWords) => void;

  constructor({
    clock,
    promptTokens,
    requestId,
    heard,
  }: {
    readonly clock: () => number;
    readonly promptTokens: number;
    readonly requestId: string;
    /** Called with what an upstream said of a failed attempt. */
    readonly heard: (words: HeardWords) => void;
  }) {
    this.#clock = clock;
    this.#promptTokens = promptTokens;
    this.#requestId = requestId;
    this.#heard = heard;
  }

  /** A snapshot: an attempt that is drained after the answer may still add its usage. */
  get records(): readonly AttemptEntry[] {
    const records: AttemptEntry[] = [];
    for (const entry of this.#entries) {
      records.push('skipped' in entry ? entry.skipped : recordOf(entry, this.#promptTokens));
    }
    return records;
  }

  /** The attempts that generated unseen until a timer ended them. */
  silent(): readonly A[] {
    let silent: A[] | undefined;
    for (const entry of this.#entries) {
      if (!('attempt' in entry) || entry.attempt.isSilent?.() !== true) continue;
      silent ??= [];
      silent.push(entry.attempt);
    }
    return silent ?? NONE;
  }

  /** Records an attempt that has ended. Without a failure it served the answer. */
  add(attempt: A, failure: UpstreamFailure | undefined): void {
    const endedAt = this.#clock();
    this.#entries.push({ attempt, failure, endedAt });
    if (failure !== undefined) this.#hear(attempt, failure, endedAt);
  }

  #hear({ candidate }: LoggedAttempt, failure: UpstreamFailure, at: number): void {
    const words = saidWords(failure);
    if (words === '') return;
    const place = { upstream: candidate.upstream.id, model: candidate.model.slug };
    const { class: kind, status } = failure;
    this.#heard({ ...place, failure: kind, status, words, requestId: this.#requestId, at });
  }

  /** Records a candidate that was skipped, and why. */
  skip(candidate: Candidate, failure: UpstreamFailure): void {
    const at = this.#clock();
    const { upstream, model, upstreamModel } = candidate;
    const skipped: Writable<AttemptEntry> = {
      upstream: upstream.id,
      model: model.slug,
      upstreamModel,
      startedAt: at,
      endedAt: at,
    };
    addFailure(skipped, failure);
    this.#entries.push({ skipped });
  }
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

function recordOf(
  { attempt, failure, endedAt }: Exclude<Entry<LoggedAttempt>, { readonly skipped: AttemptEntry }>,
  promptTokens: number,
): AttemptEntry {
  const { firstByteMs, firstContentMs } = attempt.times();
  const { upstream, model, upstreamModel } = attempt.candidate;
  const record: Writable<AttemptEntry> = {
    upstream: upstream.id,
    model: model.slug,
    upstreamModel,
    credential: attempt.credential,
    startedAt: attempt.startedAt,
    endedAt,
  };
  if (firstByteMs !== undefined) record.firstByteMs = rounded(firstByteMs);
  if (firstContentMs !== undefined) record.firstContentMs = rounded(firstContentMs);
  if (failure !== undefined) addFailure(record, failure);
  const usage = usageOf(attempt, promptTokens);
  if (usage === undefined) return record;
  record.usage = usage;
  const { cost } = attempt.candidate;
  if (cost !== undefined) record.cost = formatTokens(charge(usage, cost));
  const reportedCost = reportedCostUsd(attempt.meter?.raw?.());
  if (reportedCost !== undefined) record.reportedCostUsd = reportedCost;
  return record;
}

/** Rounds to 0.1 ms. More digits would only take space in the database. */
function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}

function addFailure(record: Writable<AttemptEntry>, failure: UpstreamFailure): void {
  const { class: kind, phase, status, detail } = failure;
  record.failure = kind;
  if (phase !== undefined) record.phase = phase;
  if (status !== undefined) record.status = status;
  record.detail = detail;
}

/** An upstream that delivered and reported nothing is assumed to charge nothing. */
function usageOf(attempt: LoggedAttempt, promptTokens: number): Usage | undefined {
  const { meter, candidate } = attempt;
  const reported = meter?.reported();
  if (reported !== undefined && reported.basis !== 'rejected') {
    return withUnreportedWrites(reported, candidate.profile.unreportedCacheWrites);
  }
  return meter === undefined || meter.output() === 'none'
    ? undefined
    : withNamedTier(meter.estimate(promptTokens), attempt.soFar?.()?.serviceTier());
}
