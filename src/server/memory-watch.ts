// Collects garbage before the process has grown much, and when it is idle. The runtime waits until
// the heap has grown by half and does not collect while idle: it would keep the memory of a burst, and
// with little traffic it grows for hours, which looks like a leak. It notices large bodies late,
// because they lie outside its heap. It never returns what its compiler took, so where there is time
// to compile again, compiled code is dropped too (decision 0169).

const MB = 1_024 * 1_024;
const SECOND_MS = 1_000;

/**
 * Growth that justifies a collection, which pauses for some 50 ms: under load, which only a burst
 * of large bodies reaches, and when idle.
 */
const GROWN_BYTES = { busy: 192 * MB, idle: 24 * MB };

/**
 * After this long without a collection, a server collects in any case: what the runtime's own
 * collections leave grows by some MiB an hour.
 */
const DUE_MS = 5 * 60_000;

/**
 * A server that used less than this share of one processor for a minute drops its compiled code, if
 * it has worked for so long since it last did. Compiling it again takes two seconds of processor
 * time: a server at full load would answer half as much in that time.
 */
const QUIET = { ms: 60_000, share: 1 / 8, workMs: 2_000 };

/** And after this long at any load. */
const SHRINK_DUE_MS = 24 * 3_600_000;

/** Returns the check; call it several times a second. */
export function createMemoryWatch(options: {
  /** Requests in flight. */
  readonly inFlight: () => number;
  /** Undefined where it cannot be read now. */
  readonly residentBytes: () => number | undefined;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  /** Processor time of all threads so far. */
  readonly cpuSeconds: () => number;
  readonly collect: () => void;
  /** Collects, and drops compiled code. */
  readonly shrink: () => void;
}): () => void {
  const { inFlight, residentBytes, monotonic, cpuSeconds, collect, shrink } = options;
  let wasIdle = false;
  /**
   * The lowest resident size since the last collection: the allocator returns memory with a delay.
   */
  let least = 0;
  /** Nothing was collected since the start, or with requests in flight, so garbage may remain. */
  let isOwed = true;
  let collectedAtMs = 0;
  /** Where the processor time of the present minute, and since code was dropped, is counted from. */
  let counted = { atMs: monotonic(), cpuMs: cpuSeconds() * SECOND_MS };
  let shrunk = counted;

  /** Asks once a minute. */
  function isCodeDue(nowMs: number): boolean {
    const elapsedMs = nowMs - counted.atMs;
    if (elapsedMs < QUIET.ms) return false;
    const cpuMs = cpuSeconds() * SECOND_MS;
    const isQuiet = cpuMs - counted.cpuMs < elapsedMs * QUIET.share;
    counted = { atMs: nowMs, cpuMs };
    const hasWorked = cpuMs - shrunk.cpuMs >= QUIET.workMs;
    return (isQuiet && hasWorked) || nowMs >= shrunk.atMs + SHRINK_DUE_MS;
  }

  return () => {
    const isIdle = inFlight() === 0;
    // A sequential client may send its next request between two checks.
    const isResting = isIdle && wasIdle;
    wasIdle = isIdle;
    const bytes = residentBytes();
    if (bytes === undefined) return;
    least = Math.min(least, bytes);
    const nowMs = monotonic();
    const state = isResting ? 'idle' : 'busy';
    if (isCodeDue(nowMs)) {
      shrink();
      shrunk = counted;
    } else {
      const isDue = (isResting && isOwed) || nowMs >= collectedAtMs + DUE_MS;
      if (!isDue && bytes < least + GROWN_BYTES[state]) return;
      collect();
    }
    least = bytes;
    isOwed = !isResting;
    collectedAtMs = nowMs;
  };
}
