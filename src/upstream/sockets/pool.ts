// Idle connections of every origin. The one that was used last is used next, so those beyond what is
// needed grow old and are closed. A connection that its server closes, or that says something while
// nobody asked it, is dropped in that moment.

import { every } from '../../async/every.ts';
import type { Connection } from './connection.ts';

/**
 * How long an idle connection is kept. Load balancers and proxies keep theirs for 60 s or more, and
 * some drop them without a word; servers that keep them for less (many for 5 s) close them, which
 * is seen at once. Below the first and heedless of the second, 50 s is seldom wrong.
 */
const IDLE_MS = 50_000;

/** What the answer to a request may need on its way: a server's own figure is used up to here. */
const MARGIN_MS = 1_000;

/** As many as an upstream's requests in flight by default: a burst that ends is kept whole. */
const IDLE_MAX = 1_024;

const SWEEP_MS = 1_000;

/** `monotonic` in milliseconds. */
export function createPool(monotonic: () => number) {
  /** The oldest first. */
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
    /** `keepAliveMs`: how long the server says that it keeps it. */
    put(key: string, connection: Connection, keepAliveMs: number | undefined) {
      const idleMs = Math.min(IDLE_MS, (keepAliveMs ?? Number.POSITIVE_INFINITY) - MARGIN_MS);
      const waiting = byKey.get(key);
      if (isClosed || idleMs <= 0 || (waiting?.length ?? 0) >= IDLE_MAX) return connection.finish();
      connection.rest(monotonic() + idleMs);
      if (waiting === undefined) byKey.set(key, [connection]);
      else waiting.push(connection);
    },
    /** Closes what is idle, and from now on what becomes it. */
    close(): void {
      isClosed = true;
      stopSweeping();
      for (const waiting of byKey.values()) for (const connection of waiting) connection.finish();
      byKey.clear();
    },
  };
}
