// Records when and from where each key was last used. A request only notes it in memory; one write
// every few seconds stores it. Coarse on purpose: at most one write per minute and key.

import { eq } from 'drizzle-orm';
import { createSerialize } from '../async/serialize.ts';
import type { Database } from '../store/contract.ts';
import { apiKeys } from '../store/tables.ts';

const FLUSH_DELAY_MS = 5_000;
const GRAIN_MS = 60_000;
/** The longest IPv6 address; a socket's own text is not checked. */
const ADDRESS_LENGTH_MAX = 45;

type Use = { readonly at: number; readonly address: string | null };

export function createKeyActivity(dependencies: {
  readonly database: Database;
  /** Called when a write failed; the next one retries. */
  readonly onError: (error: unknown) => void;
}) {
  const { database, onError } = dependencies;
  const { db } = database;
  /** Written or pending, by key id; removed after a minute. */
  const touched = new Map<string, number>();
  let pending = new Map<string, Use>();
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
    for (const { at } of batch.values()) newest = Math.max(newest, at);
    for (const [keyId, at] of touched) if (newest - at >= GRAIN_MS) touched.delete(keyId);
    try {
      await database.transaction(async () => {
        // In one round trip: the ledger waits as long as this transaction is open.
        await Promise.all(
          [...batch].map(([keyId, { at, address }]) =>
            db
              .update(apiKeys)
              .set({ lastUsedAt: at, lastUsedAddress: address })
              .where(eq(apiKeys.id, keyId))
              .run(),
          ),
        );
      });
    } catch (error) {
      for (const keyId of batch.keys()) touched.delete(keyId);
      onError(error);
    }
  }

  return {
    /** Notes a use; never writes and never throws. Resolves the address at most once a minute. */
    touch(keyId: string, nowMs: number, from: { readonly address: () => string }): void {
      const last = touched.get(keyId);
      if (last !== undefined && nowMs - last >= 0 && nowMs - last < GRAIN_MS) return;
      touched.set(keyId, nowMs);
      const address = from.address();
      const isKnown = address.length > 0 && address.length <= ADDRESS_LENGTH_MAX;
      pending.set(keyId, { at: nowMs, address: isKnown ? address : null });
      timer ??= setTimeout(flush, FLUSH_DELAY_MS).unref();
    },
    /** Writes all notes now, for the server's shutdown. */
    flush,
  };
}
