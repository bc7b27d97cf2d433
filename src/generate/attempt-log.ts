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

export type AttemptLog = ReturnType<typeof createAttemptLog>;

export function createAttemptLog(dependencies: {
  readonly clock: () => number;
  /** The estimated prompt of the request. */
  readonly promptTokens: number;
}) {
  const { clock, promptTokens } = dependencies;
  const entries: (() => AttemptEntry)[] = [];
  return {
    /** As of now: the usage of an attempt that is read on after its end may still come. */
    get records(): readonly AttemptEntry[] {
      return entries.map((entry) => entry());
    },
    /** Notes an attempt that has ended; without a failure it served. */
    add(attempt: LoggedAttempt, failure: UpstreamFailure | undefined): void {
      const { candidate, credential } = attempt;
      const endedAt = clock();
      entries.push(() => ({
        ...askedFacts(candidate),
        credential,
        startedAt: attempt.startedAt,
        endedAt,
        ...roundedTimes(attempt),
        ...failureFacts(failure),
        ...usageFacts(attempt, promptTokens),
      }));
    },
    /** Notes a candidate that was not asked, and why. */
    skip(candidate: Candidate, failure: UpstreamFailure): void {
      const at = clock();
      const record = {
        ...askedFacts(candidate),
        startedAt: at,
        endedAt: at,
        ...failureFacts(failure),
      };
      entries.push(() => record);
    },
  };
}

function askedFacts({ upstream, model, upstreamModel }: Candidate) {
  return { upstream: upstream.id, model: model.slug, upstreamModel };
}

/** To a tenth of a millisecond: nobody reads more, and books keep every digit for ever. */
function roundedTimes(attempt: Attempt) {
  const { firstByteMs, firstContentMs } = attempt.times();
  return {
    ...(firstByteMs === undefined ? {} : { firstByteMs: Math.round(firstByteMs * 10) / 10 }),
    ...(firstContentMs === undefined
      ? {}
      : { firstContentMs: Math.round(firstContentMs * 10) / 10 }),
  };
}

function failureFacts(failure: UpstreamFailure | undefined) {
  if (failure === undefined) return {};
  const { class: kind, phase, status, detail } = failure;
  return {
    failure: kind,
    ...(phase === undefined ? {} : { phase }),
    ...(status === undefined ? {} : { status }),
    detail,
  };
}

/** An upstream that has delivered nothing and reported nothing is taken to ask nothing for it. */
function usageFacts({ candidate, meter }: LoggedAttempt, promptTokens: number) {
  const reported = meter?.reported();
  const isSane = reported !== undefined && reported.basis !== 'rejected';
  if (meter === undefined || (!isSane && meter.output() === 'none')) return {};
  const usage = isSane ? reported : meter.estimate(promptTokens);
  const { cost } = candidate;
  return cost === undefined ? { usage } : { usage, cost: formatTokens(charge(usage, cost)) };
}
