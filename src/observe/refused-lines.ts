// Holds the lines of refused requests to a rate: whoever knows the address, key or none, can be
// refused thousands of times a second, and the disk of the log is not theirs to fill. What is left
// out is counted, said in the log, and in the metrics like every other request.

/** Lines of refused requests that a second may have; the log holds every one below it. */
const LINES_EACH_SECOND = 200;

const SECOND_MS = 1_000;

type RefusedLines = {
  /** Whether this one may be written. */
  readonly mayWrite: () => boolean;
};

export function createRefusedLines(dependencies: {
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  /** Called once for a second in which lines were left out, with their number. */
  readonly onLeftOut: (count: number) => void;
}): RefusedLines {
  const { monotonic, onLeftOut } = dependencies;
  let since = monotonic();
  let written = 0;
  let leftOut = 0;

  function turn(): void {
    since = monotonic();
    written = 0;
    if (leftOut === 0) return;
    onLeftOut(leftOut);
    leftOut = 0;
  }

  return {
    mayWrite() {
      if (monotonic() - since >= SECOND_MS) turn();
      if (written < LINES_EACH_SECOND) {
        written += 1;
        return true;
      }
      // The flood may end here, and its number must be logged all the same.
      if (leftOut === 0) setTimeout(turn, SECOND_MS).unref();
      leftOut += 1;
      return false;
    },
  };
}
