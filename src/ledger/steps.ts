// The pace of long work on the database: short steps, with a pause after each for other work.

export type StepOptions = {
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  /** The target duration of a step: the database or the event loop is busy for so long. */
  readonly stepMs: number;
  readonly pauseMs: number;
  readonly isStopped: () => boolean;
};

/** Rows that one statement reads where customers decide how many there are: some 3 ms. */
export const PIECE_ROWS = 2_000;

/** Where the last piece of a range begins; `from` where the range is one piece. */
export type Cut<Place> = (from: Place, until: Place) => Promise<Place>;

/**
 * Cuts the ranges of one read, which goes backwards, into pieces. `find` returns where the piece
 * begins that ends at a place; undefined if all that lies before it is one piece.
 */
export function createCut<Place>(
  find: (until: Place) => Promise<Place | undefined>,
  isBefore: (one: Place, other: Place) => boolean,
): Cut<Place> {
  let found: { readonly until: Place; readonly place: Place | undefined } | undefined;
  return async (from, until) => {
    const isPassed = found?.place !== undefined && !isBefore(found.place, until);
    if (found === undefined || isPassed || isBefore(found.until, until)) {
      found = { until, place: await find(until) };
    }
    const { place } = found;
    return place !== undefined && isBefore(from, place) ? place : from;
  };
}

/** The size of the next step, so that it takes `stepMs`: at most twice that of the last one. */
export function nextSize(
  last: { readonly size: number; readonly tookMs: number },
  stepMs: number,
  bounds: { readonly min: number; readonly max: number },
): number {
  const fitting = last.size * Math.min(2, stepMs / Math.max(0.01, last.tookMs));
  return Math.round(Math.min(bounds.max, Math.max(bounds.min, fitting)));
}
