// Keeps file descriptors for connections to upstreams. Clients connect as they like, and the runtime
// accepts until the process has none left; every request would then fail for want of a connection of
// ours, which the runtime reports as refused by the upstream. So some are kept open on nothing, and
// one of them is closed in the same turn in which a connection is made.

import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { every } from '../async/every.ts';

export type Descriptors = {
  /** Whether one more request can have its connection, beside those that are in flight. */
  readonly hasRoom: (inFlight: number) => boolean;
  /** Call right before a connection is made; false where no descriptor is left for it. */
  readonly lend: () => boolean;
  /** That connection is closed, or was never made. */
  readonly returned: () => void;
  readonly close: () => void;
};

/** Enough for a burst: where descriptors are free, what was lent is kept again soon. */
const KEPT_MAX = 256;

/** Of the process without any client: libraries, listeners, databases, the log. */
const OWN = 48;

/**
 * Of the rest. A stream takes one for its client as well, and a tenth is left to accept clients that
 * are refused, and for files that are opened in between.
 */
const SHARE = 0.45;

const LOOK_MS = 250;

/** Descriptors are kept again only while so much of the limit is free. */
const FREE_SHARE = 0.25;

type DescriptorSource = {
  /** How many the process may have; undefined where the system does not tell. */
  readonly limit: number | undefined;
  readonly count: () => number;
};

/** `monotonic` in milliseconds. */
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
  /** Open connections, in use or not. */
  let lent = 0;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let free = 0;

  function keep(): boolean {
    try {
      kept.push(openSync('/dev/null', 'r'));
      return true;
    } catch {
      // None is left. The next connection that closes leaves another one.
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
      // Kept at once, or the next clients would take it before the request has its connection.
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

/** By what Linux tells; the runtime has raised the soft limit to the hard one already. */
function ownDescriptors(): DescriptorSource {
  const limit = readOpenFileLimit();
  return {
    limit,
    count() {
      try {
        return readdirSync('/proc/self/fd').length;
      } catch {
        // Looking takes one itself.
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
