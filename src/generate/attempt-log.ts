// The story of a request's attempts: who was tried, when, and how it failed if it did. The route and
// the pipeline write it, the grant keeps it with the usage record. It holds no word of an upstream.

import type { Alert } from '../core/alert.ts';
import type { FailureClass, UpstreamFailure } from '../core/failure.ts';
import type { Attempt } from '../upstream/attempt.ts';

export type AttemptRecord = {
  readonly upstream: string;
  readonly model: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly failure?: FailureClass;
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
  readonly alert: (alert: Alert) => void;
}): AttemptLog {
  const { clock, alert } = dependencies;
  const records: AttemptRecord[] = [];
  return {
    records,
    add({ candidate, startedAt }, failure) {
      if (failure?.class === 'credential') {
        alert({
          kind: 'credential_refused',
          upstream: candidate.upstream.id,
          credential: candidate.upstream.credentials[0].id,
          ...(failure.status === undefined ? {} : { status: failure.status }),
        });
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
