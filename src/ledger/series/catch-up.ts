// Runs steps of a roll-up until the backlog is empty, and adapts their size to the target duration:
// the cost of a record depends on how many rows of the series its neighbours share.

import type { RollUp } from './roll-up.ts';

type CatchUpOptions = {
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  /** The target duration of a step: the database or the event loop is busy for so long. */
  readonly stepMs: number;
  /** The pause between two steps, for other work. */
  readonly pauseMs: number;
  readonly isStopped: () => boolean;
};

const FIRST_RECORDS = 250;
const RECORDS_MIN = 250;
const RECORDS_MAX = 2_000;

/** Rejects where the database fails; completed steps stay. */
export async function catchUp(rollUp: RollUp, options: CatchUpOptions): Promise<void> {
  const { monotonic, stepMs, pauseMs, isStopped } = options;
  let size = FIRST_RECORDS;
  while (!isStopped()) {
    const startedAt = monotonic();
    const added = await rollUp.step(size);
    // Fewer than the limit means that the backlog is empty.
    if (added < size) return;
    const tookMs = Math.max(0.01, monotonic() - startedAt);
    const fitting = size * Math.min(2, stepMs / tookMs);
    size = Math.round(Math.min(RECORDS_MAX, Math.max(RECORDS_MIN, fitting)));
    await Bun.sleep(pauseMs);
  }
}
