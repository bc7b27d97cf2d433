// The story of a request's attempts: who was tried, when, and how it failed if it did. The route and
// the pipeline write it, the grant keeps it with the usage record. It holds no word of an upstream.

import type { UpstreamFailure } from '../core/failure.ts';
import type { Attempt } from '../upstream/attempt.ts';

export type AttemptRecord = {
  readonly upstream: string;
  readonly model: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly failure?: string;
  readonly detail?: string;
};

export type AttemptLog = {
  readonly records: readonly AttemptRecord[];
  /** Notes an attempt that has ended; without a failure it served. */
  readonly add: (attempt: Attempt, failure: UpstreamFailure | undefined) => void;
};

export function createAttemptLog(dependencies: {
  readonly clock: () => number;
  /** Told of what only the operator can mend. */
  readonly alert: (message: string) => void;
}): AttemptLog {
  const { clock, alert } = dependencies;
  const records: AttemptRecord[] = [];
  return {
    records,
    add({ candidate, startedAt }, failure) {
      if (failure?.class === 'credential') {
        alert(
          `upstream ${candidate.upstream.id} refuses our credential or account (status ${failure.status ?? 'unknown'}); check its api_key and balance`,
        );
      }
      records.push({
        upstream: candidate.upstream.id,
        model: candidate.model.slug,
        startedAt,
        endedAt: clock(),
        ...(failure === undefined ? {} : { failure: failure.class, detail: failure.detail }),
      });
    },
  };
}
