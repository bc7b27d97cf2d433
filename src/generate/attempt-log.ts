// The history of a request's attempts: who was tried, when, how it ended, and what the upstream asks
// the operator for it. The route and the pipeline write it, and the grant keeps it with the usage
// record. It holds no word of an upstream.

import type { AttemptPhase, UpstreamFailure } from '../core/failure.ts';
import type { Usage } from '../core/generation.ts';
import { formatTokens } from '../core/money.ts';
import { charge } from '../core/price.ts';
import type { AttemptSummary } from '../core/request-summary.ts';
import type { Candidate } from '../core/route.ts';
import type { Attempt } from '../upstream/attempt.ts';
import type { OutputMeter } from './meter.ts';

/** Kept as JSON: a member may be added, and whoever reads must do without each of them. */
export type AttemptEntry = AttemptSummary & {
  /** What the upstream calls the model. */
  readonly upstreamModel: string;
  /** Absent where it served, as are the next two. */
  readonly phase?: AttemptPhase;
  readonly status?: number;
  readonly detail?: string;
  /** What the upstream reported, or our own count of what it delivered without a report. */
  readonly usage?: Usage;
};

/** An attempt whose output was counted, where there was a meter. */
export type LoggedAttempt = Attempt & {
  readonly meter?: Pick<OutputMeter, 'output' | 'reported' | 'estimate'>;
};

type Entry =
  | {
      readonly attempt: LoggedAttempt;
      readonly failure: UpstreamFailure | undefined;
      readonly endedAt: number;
    }
  | { readonly skipped: AttemptEntry };

export class AttemptLog {
  /** Unix milliseconds. */
  readonly #clock: () => number;
  /** The estimated prompt of the request. */
  readonly #promptTokens: number;
  readonly #entries: Entry[] = [];

  constructor({
    clock,
    promptTokens,
  }: {
    readonly clock: () => number;
    readonly promptTokens: number;
  }) {
    this.#clock = clock;
    this.#promptTokens = promptTokens;
  }

  /** As of now: the usage of an attempt that is read on after its end may still come. */
  get records(): readonly AttemptEntry[] {
    const records: AttemptEntry[] = [];
    for (const entry of this.#entries) {
      records.push('skipped' in entry ? entry.skipped : recordOf(entry, this.#promptTokens));
    }
    return records;
  }

  /** Notes an attempt that has ended; without a failure it served. */
  add(attempt: LoggedAttempt, failure: UpstreamFailure | undefined): void {
    this.#entries.push({ attempt, failure, endedAt: this.#clock() });
  }

  /** Notes a candidate that was not asked, and why. */
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
  { attempt, failure, endedAt }: Exclude<Entry, { readonly skipped: AttemptEntry }>,
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
  return record;
}

/** To a tenth of a millisecond: nobody reads more, and books keep every digit for ever. */
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

/** An upstream that has delivered nothing and reported nothing is taken to ask nothing for it. */
function usageOf({ meter }: LoggedAttempt, promptTokens: number): Usage | undefined {
  const reported = meter?.reported();
  if (reported !== undefined && reported.basis !== 'rejected') return reported;
  return meter === undefined || meter.output() === 'none'
    ? undefined
    : meter.estimate(promptTokens);
}
