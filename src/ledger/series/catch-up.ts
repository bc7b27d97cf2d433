// Takes steps of a roll-up until nothing is behind, each about as long as it may be: what a record
// costs depends on how many rows of the series its neighbours share.

import type { RollUp } from './roll-up.ts';

type CatchUpOptions = {
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  /** How long a step should take: others wait for it, for the database or for the event loop. */
  readonly stepMs: number;
  /** Given to everybody else between two steps. */
  readonly pauseMs: number;
  readonly isStopped: () => boolean;
};

const FIRST_RECORDS = 250;
const RECORDS_MIN = 250;
const RECORDS_MAX = 2_000;

/** Rejects where the database fails; what was added up before stays. */
export async function catchUp(rollUp: RollUp, options: CatchUpOptions): Promise<void> {
  const { monotonic, stepMs, pauseMs, isStopped } = options;
  let size = FIRST_RECORDS;
  while (!isStopped()) {
    const startedAt = monotonic();
    const added = await rollUp.step(size);
    // Fewer than were allowed are all that there were.
    if (added < size) return;
    const tookMs = Math.max(0.01, monotonic() - startedAt);
    const fitting = size * Math.min(2, stepMs / tookMs);
    size = Math.round(Math.min(RECORDS_MAX, Math.max(RECORDS_MIN, fitting)));
    await Bun.sleep(pauseMs);
  }
}
