// Runs steps of a roll-up until the backlog is empty, and adapts their size to the target duration:
// the cost of a record depends on how many rows of the series its neighbours share.

import { nextSize, type StepOptions } from '../steps.ts';
import type { RollUp } from './roll-up.ts';

const RECORDS = { min: 250, max: 2_000 };

/** Rejects where the database fails; completed steps stay. */
export async function catchUp(rollUp: RollUp, options: StepOptions): Promise<void> {
  const { monotonic, stepMs, pauseMs, isStopped } = options;
  let size = RECORDS.min;
  while (!isStopped()) {
    const startedAt = monotonic();
    const added = await rollUp.step(size);
    // Fewer than the limit means that the backlog is empty.
    if (added < size) return;
    size = nextSize({ size, tookMs: monotonic() - startedAt }, stepMs, RECORDS);
    await Bun.sleep(pauseMs);
  }
}
