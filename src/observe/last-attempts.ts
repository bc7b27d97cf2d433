// Remembers how the last attempts at each upstream and model ended, so that a model that fails is
// not shown as healthy where its circuit breaker is off or has not opened. Bounded by the catalog.

import { FAILURES, type FailureClass } from '../core/failure.ts';
import type { Trouble } from '../core/health.ts';

/** Fewer failures in a row may be those of one client. */
const IN_ROW_MIN = 3;

/** Older failures say nothing about now. */
const COUNTS_FOR_MS = 3_600_000;

type Row = { failed: number; faults: number; at: number };

export function createLastAttempts(clock: () => number) {
  const upstreams = new Map<string, Map<string, Row>>();
  return {
    /** `failure` is absent where the attempt served. */
    note(upstream: string, model: string, failure: FailureClass | undefined): void {
      const models = upstreams.getOrInsertComputed(upstream, () => new Map());
      if (failure === undefined) {
        models.delete(model);
        return;
      }
      const { failed, faults } = models.get(model) ?? { failed: 0, faults: 0 };
      const isFault = FAILURES[failure].fault !== 'neither';
      models.set(model, { failed: failed + 1, faults: faults + (isFault ? 1 : 0), at: clock() });
    },
    /** Failures that are not the upstream's fault may be those of its clients. */
    trouble(upstream: string, model: string): Trouble | undefined {
      const row = upstreams.get(upstream)?.get(model);
      if (row === undefined || clock() - row.at > COUNTS_FOR_MS) return undefined;
      if (row.faults >= IN_ROW_MIN) return 'failing';
      return row.failed >= IN_ROW_MIN ? 'degraded' : undefined;
    },
    forget: (upstream: string): void => {
      upstreams.delete(upstream);
    },
  };
}
