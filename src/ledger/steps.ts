// The pace of long work on the database: short steps, with a pause after each for other work.

export type StepOptions = {
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  /** The target duration of a step: the database or the event loop is busy for so long. */
  readonly stepMs: number;
  readonly pauseMs: number;
  readonly isStopped: () => boolean;
};

/** The size of the next step, so that it takes `stepMs`: at most twice that of the last one. */
export function nextSize(
  last: { readonly size: number; readonly tookMs: number },
  stepMs: number,
  bounds: { readonly min: number; readonly max: number },
): number {
  const fitting = last.size * Math.min(2, stepMs / Math.max(0.01, last.tookMs));
  return Math.round(Math.min(bounds.max, Math.max(bounds.min, fitting)));
}
