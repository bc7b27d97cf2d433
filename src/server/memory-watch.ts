// Collects garbage before the process has grown much, and once it has nothing to do. The runtime waits
// until a heap has doubled, and collects nothing where no request comes: what a burst has left would
// stay. Large bodies lie outside of its heap, where it notices them late.

const MB = 1_024 * 1_024;

/**
 * What may grow before a collection is worth its pause of some 50 ms: under load, where only a burst of
 * large bodies grows so much, and with nothing to do.
 */
const GROWN_BYTES = { busy: 192 * MB, idle: 24 * MB };

/** Returns what looks whether it is time; to be called some times a second. */
export function createMemoryWatch(options: {
  /** Requests that are being answered. */
  readonly inFlight: () => number;
  readonly residentBytes: () => number;
  readonly collect: () => void;
}): () => void {
  const { inFlight, residentBytes, collect } = options;
  let wasIdle = false;
  /** The least that was resident since the last collection: memory is given back some time after. */
  let least = 0;
  /** Collected while requests were in flight, of which something may be left. */
  let isOwed = false;
  return () => {
    const isIdle = inFlight() === 0;
    // Between two looks there may be a client that sends one request after the other.
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
