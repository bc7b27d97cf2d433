// Collects garbage before the process has grown much, and when it is idle. The runtime waits until
// the heap has grown by half and does not collect while idle: it would keep the memory of a burst, and
// with little traffic it grows for hours, which looks like a leak. It notices large bodies late,
// because they lie outside its heap. It never returns what its compiler took, so where memory stays
// high, compiled code is dropped, too (decision 0189).

const MB = 1_024 * 1_024;

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
 * Compiled code is dropped where memory stayed above this, and grew by so much since the last drop:
 * it is compiled again in two seconds of processor time, and what else is in use stays.
 */
const DROP = { fromBytes: 256 * MB, grownBytes: 64 * MB };

/** Returns the check; call it several times a second. */
export function createMemoryWatch(options: {
  /** Requests in flight. */
  readonly inFlight: () => number;
  /** Undefined where it cannot be read now. */
  readonly residentBytes: () => number | undefined;
  /** Milliseconds of a clock that never jumps. */
  readonly monotonic: () => number;
  readonly collect: () => void;
  /** Collects, and drops compiled code. */
  readonly shrink: () => void;
}): () => void {
  const { inFlight, residentBytes, monotonic, collect, shrink } = options;
  let wasIdle = false;
  /**
   * The lowest resident size since the last collection: the allocator returns memory with a delay.
   */
  let least = 0;
  /** Nothing was collected since the start, or with requests in flight, so garbage may remain. */
  let isOwed = true;
  let collectedAtMs = 0;
  /** The lowest resident size since the last look at it, and what is left after a drop of code. */
  let lowest = Number.POSITIVE_INFINITY;
  let lookedAtMs = monotonic();
  let left: number | undefined = 0;

  /** Whether code is to be dropped: asked every five minutes. */
  function staysHigh(nowMs: number): boolean {
    const isHigh = left !== undefined && lowest >= Math.max(DROP.fromBytes, left + DROP.grownBytes);
    left = isHigh ? undefined : (left ?? lowest);
    lookedAtMs = nowMs;
    lowest = Number.POSITIVE_INFINITY;
    return isHigh;
  }

  return () => {
    const isIdle = inFlight() === 0;
    // A sequential client may send its next request between two checks.
    const isResting = isIdle && wasIdle;
    wasIdle = isIdle;
    const bytes = residentBytes();
    if (bytes === undefined) return;
    least = Math.min(least, bytes);
    lowest = Math.min(lowest, bytes);
    const nowMs = monotonic();
    const state = isResting ? 'idle' : 'busy';
    if (nowMs >= lookedAtMs + DUE_MS && staysHigh(nowMs)) {
      shrink();
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
