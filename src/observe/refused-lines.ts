// Rate-limits the log lines of refused requests: any client can be refused thousands of times a
// second, and must not fill the disk. Omitted lines are counted in the log; metrics count every
// request.

/** Logged refusals per second; below this rate, all are logged. */
const LINES_EACH_SECOND = 200;

const SECOND_MS = 1_000;

export function createRefusedLines(dependencies: {
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  /** Called once per second in which lines were left out, with their number. */
  readonly onLeftOut: (count: number) => void;
}) {
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
    /** Whether this line may be written. */
    mayWrite(): boolean {
      if (monotonic() - since >= SECOND_MS) turn();
      if (written < LINES_EACH_SECOND) {
        written += 1;
        return true;
      }
      // The burst may end here, and its count must still be logged.
      if (leftOut === 0) setTimeout(turn, SECOND_MS).unref();
      leftOut += 1;
      return false;
    },
  };
}
