// Reserves file descriptors for upstream connections. The runtime accepts clients until the process
// has no descriptor left; every upstream connection would then fail, and the runtime reports that
// as refused by the upstream. So some descriptors are kept open as spares, and one is closed in the
// same turn in which a connection is made.

import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { every } from '../async/every.ts';

export type Descriptors = {
  /** Whether another request can get a connection, beside those in flight. */
  readonly hasRoom: (inFlight: number) => boolean;
  /** Call directly before connecting; false if no descriptor is left. */
  readonly lend: () => boolean;
  /** Call when that connection has closed, or was never made. */
  readonly returned: () => void;
  readonly close: () => void;
};

/** Enough for a burst: lent spares are replaced soon if descriptors are free. */
const KEPT_MAX = 256;

/** Descriptors of a process without clients: libraries, listeners, databases, the log. */
const OWN = 48;

/**
 * The share of the rest for upstreams. A stream needs another one for its client, and a tenth is
 * left to accept clients that are refused and to open files.
 */
const SHARE = 0.45;

const LOOK_MS = 250;

/** Spares are replaced, and threads started, only while this share of the limit is free. */
const FREE_SHARE = 0.25;

type DescriptorSource = {
  /** The process's limit; undefined if the system does not report it. */
  readonly limit: number | undefined;
  readonly count: () => number;
};

/** `monotonic` is in milliseconds. */
export function createDescriptors(options: {
  readonly monotonic: () => number;
  readonly source?: DescriptorSource;
}): Descriptors {
  const { monotonic, source = ownDescriptors() } = options;
  const { limit, count } = source;
  if (limit === undefined || limit === Number.POSITIVE_INFINITY) return UNLIMITED;
  const requestsMax = Math.floor(Math.max(0, limit - OWN) * SHARE);
  const wanted = Math.min(requestsMax, KEPT_MAX);
  const kept: number[] = [];
  /** Open connections, in use or idle. */
  let lent = 0;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let free = 0;

  function keep(): boolean {
    try {
      kept.push(openSync('/dev/null', 'r'));
      return true;
    } catch {
      // No descriptor is left, so the next closed connection frees one for a spare.
      return false;
    }
  }

  function look(): number {
    const now = monotonic();
    if (now - lookedAt >= LOOK_MS / 2) {
      lookedAt = now;
      free = limit === undefined ? 0 : limit - count();
    }
    return free;
  }

  function fill(): void {
    while (kept.length < wanted && keep());
  }

  const stopLooking = every(LOOK_MS, () => {
    if (kept.length < wanted && look() >= limit * FREE_SHARE) fill();
  });
  fill();

  return {
    hasRoom(inFlight) {
      if (inFlight >= requestsMax) return false;
      // Reserve now, or new clients could take it before the request connects.
      return inFlight < lent + kept.length || keep();
    },
    lend() {
      const one = kept.pop();
      if (one !== undefined) closeSync(one);
      else if (look() <= 0) return false;
      lent += 1;
      return true;
    },
    returned() {
      lent -= 1;
      if (kept.length < wanted) keep();
    },
    close() {
      stopLooking();
      for (const one of kept.splice(0)) closeSync(one);
    },
  };
}

const UNLIMITED: Descriptors = {
  hasRoom: () => true,
  lend: () => true,
  returned: () => undefined,
  close: () => undefined,
};

/**
 * Whether a thread may start. It opens some ten descriptors within 100 ms, in which clients can take
 * many.
 */
export function hasDescriptorsToSpare({ limit, count }: DescriptorSource): boolean {
  if (limit === undefined || limit === Number.POSITIVE_INFINITY) return true;
  return limit - count() >= limit * FREE_SHARE;
}

/** Reads /proc on Linux. The runtime has already raised the soft limit to the hard one. */
export function ownDescriptors(): DescriptorSource {
  const limit = readOpenFileLimit();
  return {
    limit,
    count() {
      try {
        return readdirSync('/proc/self/fd').length;
      } catch {
        // The listing needs a descriptor, so a failure means that none is left.
        return limit ?? 0;
      }
    },
  };
}

export function readOpenFileLimit(): number | undefined {
  try {
    const match = /^Max open files +(\d+|unlimited)/m.exec(
      readFileSync('/proc/self/limits', 'utf8'),
    );
    if (match === null) return undefined;
    return match[1] === 'unlimited' ? Number.POSITIVE_INFINITY : Number(match[1]);
  } catch {
    return undefined;
  }
}
