// Idle connections of every origin, most recently used first, so that surplus ones age and are
// closed. A connection is dropped as soon as its server closes it or sends unsolicited data.

import { every } from '../../async/every.ts';
import type { Connection } from './connection.ts';

/**
 * How long an idle connection is kept. Load balancers and proxies keep theirs for 60 s or more, and
 * some drop them silently. Servers with shorter times (often 5 s) close them, which is detected. 50
 * s is below the former and unaffected by the latter.
 */
const IDLE_MS = 50_000;

/** Subtracted from a server's own keep-alive time for the request's way to it. */
const MARGIN_MS = 1_000;

/** The default limit of requests in flight per upstream, so a whole burst is kept. */
const IDLE_MAX = 1_024;

const SWEEP_MS = 1_000;

/** `monotonic` is in milliseconds. */
export function createPool(monotonic: () => number) {
  /** Oldest first. */
  const byKey = new Map<string, Connection[]>();
  let isClosed = false;

  function sweep(): void {
    const nowMs = monotonic();
    for (const [key, waiting] of byKey) {
      const kept = waiting.filter((connection) => {
        if (connection.idleUntilMs <= nowMs) connection.finish();
        return connection.isOpen;
      });
      if (kept.length === 0) byKey.delete(key);
      else if (kept.length < waiting.length) byKey.set(key, kept);
    }
  }
  const stopSweeping = every(SWEEP_MS, sweep);

  return {
    take(key: string): Connection | undefined {
      const waiting = byKey.get(key);
      for (let last = waiting?.pop(); last !== undefined; last = waiting?.pop()) {
        if (!last.isOpen) continue;
        if (last.idleUntilMs > monotonic()) return last;
        last.finish();
      }
      return undefined;
    },
    /** `keepAliveMs`: the server's own keep-alive time. */
    put(key: string, connection: Connection, keepAliveMs: number | undefined) {
      const idleMs = Math.min(IDLE_MS, (keepAliveMs ?? Number.POSITIVE_INFINITY) - MARGIN_MS);
      const waiting = byKey.get(key);
      if (isClosed || idleMs <= 0 || (waiting?.length ?? 0) >= IDLE_MAX) return connection.finish();
      connection.rest(monotonic() + idleMs);
      if (waiting === undefined) byKey.set(key, [connection]);
      else waiting.push(connection);
    },
    /** Closes idle connections, and later ones as they become idle. */
    close(): void {
      isClosed = true;
      stopSweeping();
      for (const waiting of byKey.values()) for (const connection of waiting) connection.finish();
      byKey.clear();
    },
  };
}
