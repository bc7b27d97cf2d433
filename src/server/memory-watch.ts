// Collects garbage before the process has grown much, and when it is idle. The runtime waits until
// the heap has doubled and does not collect while idle, so it would keep the memory of a burst. It
// notices large bodies late, because they lie outside its heap.

const MB = 1_024 * 1_024;

/**
 * Growth that justifies a collection, which pauses for some 50 ms: under load, which only a burst
 * of large bodies reaches, and when idle.
 */
const GROWN_BYTES = { busy: 192 * MB, idle: 24 * MB };

/** Returns the check; call it several times a second. */
export function createMemoryWatch(options: {
  /** Requests in flight. */
  readonly inFlight: () => number;
  readonly residentBytes: () => number;
  readonly collect: () => void;
}): () => void {
  const { inFlight, residentBytes, collect } = options;
  let wasIdle = false;
  /**
   * The lowest resident size since the last collection: the allocator returns memory with a delay.
   */
  let least = 0;
  /** The last collection ran with requests in flight, so garbage may remain. */
  let isOwed = false;
  return () => {
    const isIdle = inFlight() === 0;
    // A sequential client may send its next request between two checks.
    const isResting = isIdle && wasIdle;
    wasIdle = isIdle;
    const bytes = residentBytes();
    least = Math.min(least, bytes);
    const allowed = isResting ? (isOwed ? 0 : GROWN_BYTES.idle) : GROWN_BYTES.busy;
    if (bytes < least + allowed) return;
    collect();
    least = bytes;
    isOwed = !isResting;
  };
}
