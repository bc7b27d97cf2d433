// Records when each key was last used. A request only notes it in memory; one write every few
// seconds stores it. Coarse on purpose: at most one write per minute and key.

import { eq } from 'drizzle-orm';
import { createSerialize } from '../async/serialize.ts';
import type { Database } from '../store/contract.ts';
import { apiKeys } from '../store/tables.ts';

const FLUSH_DELAY_MS = 5_000;
const GRAIN_MS = 60_000;

export function createKeyActivity(dependencies: {
  readonly database: Database;
  /** Called when a write failed; the next one retries. */
  readonly onError: (error: unknown) => void;
}) {
  const { database, onError } = dependencies;
  const { db } = database;
  /** Written or pending, by key id; removed after a minute. */
  const touched = new Map<string, number>();
  let pending = new Map<string, number>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const inTurn = createSerialize();

  /** The caller that closes the database waits for a write in progress, too. */
  const flush = (): Promise<void> => inTurn(write);

  async function write(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (pending.size === 0) return;
    const batch = pending;
    pending = new Map();
    let newest = 0;
    for (const at of batch.values()) newest = Math.max(newest, at);
    for (const [keyId, at] of touched) if (newest - at >= GRAIN_MS) touched.delete(keyId);
    try {
      await database.transaction(async () => {
        // In one round trip: the ledger waits as long as this transaction is open.
        await Promise.all(
          [...batch].map(([keyId, lastUsedAt]) =>
            db.update(apiKeys).set({ lastUsedAt }).where(eq(apiKeys.id, keyId)).run(),
          ),
        );
      });
    } catch (error) {
      for (const keyId of batch.keys()) touched.delete(keyId);
      onError(error);
    }
  }

  return {
    /** Notes a use; never writes and never throws. */
    touch(keyId: string, nowMs: number): void {
      const last = touched.get(keyId);
      if (last !== undefined && nowMs - last >= 0 && nowMs - last < GRAIN_MS) return;
      touched.set(keyId, nowMs);
      pending.set(keyId, nowMs);
      if (timer === undefined) {
        timer = setTimeout(flush, FLUSH_DELAY_MS);
        timer.unref();
      }
    },
    /** Writes all notes now, for the server's shutdown. */
    flush,
  };
}
