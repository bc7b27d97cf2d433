// Caches token counts by account. Agents resend their whole history with every turn, so most texts
// have been counted before.
//
// An account cannot learn from a cache hit, or its timing, what another account has sent, and it
// cannot write an entry that another account reads. Keys cannot be made to collide: they are
// SHA-256 or, for long texts where SHA-256 would dominate the cost, GMAC under a secret that never
// leaves the process.

import { createCipheriv } from 'node:crypto';

/** Texts per account in each of two generations. */
const ACCOUNT_ENTRIES = 2_048;

/** Texts of all accounts. Above this, the least recently active account is evicted. */
const ENTRIES_MAX = 65_536;

/** SHA-256 is faster for texts shorter than this. */
const LONG_CHARACTERS = 2_048;

/** Texts that do not fit this buffer are rare. */
const ROOM_BYTES = 262_144;

/** A fixed nonce is safe here: GMAC needs a unique one only if its tags are published. */
const NONCE = new Uint8Array(12);

/** A hit moves to the young generation. The rest is dropped with the old one. */
type Remembered = { young: Map<string, number>; old: Map<string, number> };

export function createCountMemory() {
  /** Least recently active account first. */
  const accounts = new Map<string, Remembered>();
  const secret = crypto.getRandomValues(new Uint8Array(16));
  let entries = 0;

  /** Reusable buffer for encoding texts: allocating one per text costs more than hashing it. */
  const room = Buffer.allocUnsafe(ROOM_BYTES);

  function bytesOf(text: string): Buffer {
    const bytes = Buffer.byteLength(text);
    return bytes > ROOM_BYTES ? Buffer.from(text) : room.subarray(0, room.write(text));
  }

  function keyOfLong(text: string): string {
    const cipher = createCipheriv('aes-128-gcm', secret, NONCE);
    cipher.setAAD(bytesOf(text));
    cipher.final();
    return cipher.getAuthTag().toString('base64');
  }

  function forget(accountId: string, { young, old }: Remembered): void {
    accounts.delete(accountId);
    entries -= young.size + old.size;
  }

  function add(accountId: string, remembered: Remembered, key: string, tokens: number): void {
    if (remembered.young.size >= ACCOUNT_ENTRIES) {
      entries -= remembered.old.size;
      remembered.old = remembered.young;
      remembered.young = new Map();
    }
    remembered.young.set(key, tokens);
    entries += 1;
    accounts.delete(accountId);
    accounts.set(accountId, remembered);
    for (const [idle, memory] of accounts) {
      if (entries <= ENTRIES_MAX) return;
      forget(idle, memory);
    }
  }

  return {
    keyOf: (text: string): string =>
      text.length < LONG_CHARACTERS
        ? Bun.CryptoHasher.hash('sha256', text, 'base64')
        : keyOfLong(text),
    get(accountId: string, key: string): number | undefined {
      const remembered = accounts.get(accountId);
      const tokens = remembered?.young.get(key);
      if (tokens !== undefined || remembered === undefined) return tokens;
      const older = remembered.old.get(key);
      if (older === undefined) return undefined;
      remembered.old.delete(key);
      entries -= 1;
      add(accountId, remembered, key, older);
      return older;
    },
    set(accountId: string, key: string, tokens: number): void {
      const remembered = accounts.get(accountId) ?? { young: new Map(), old: new Map() };
      // The same text may occur twice in one request, or in two concurrent ones.
      if (!remembered.young.has(key)) add(accountId, remembered, key, tokens);
    },
  };
}
