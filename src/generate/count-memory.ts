// Counts that are remembered, by account. Agents send their whole history with each turn, so nearly
// every text of theirs has been counted before.
//
// No account sees, by what it finds counted or by how fast, what another one has sent, and none can
// write a count that another one reads. Collisions of keys cannot be made: they are SHA-256, or for
// long texts, where that takes longer than all else, GMAC under a secret that never leaves the process.

import { createCipheriv } from 'node:crypto';

/** Texts of one account in each of two generations. */
const ACCOUNT_ENTRIES = 2_048;

/** Texts of all accounts. Above it, the account that was idle for longest is forgotten. */
const ENTRIES_MAX = 65_536;

/** Shorter texts are hashed faster by SHA-256. */
const LONG_CHARACTERS = 2_048;

/** Longer texts are rare. */
const ROOM_BYTES = 262_144;

/** GMAC needs another one for each message only where its tags are shown. */
const NONCE = new Uint8Array(12);

/** What is asked for again moves to the young generation, the rest goes with the old one. */
type Remembered = { young: Map<string, number>; old: Map<string, number> };

export function createCountMemory() {
  /** The account that was idle for longest comes first. */
  const accounts = new Map<string, Remembered>();
  const secret = crypto.getRandomValues(new Uint8Array(16));
  let entries = 0;

  /** Where texts are encoded, one after another: fresh memory for each costs more than its hash. */
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
      // The same text twice in one request, or in two at once.
      if (!remembered.young.has(key)) add(accountId, remembered, key, tokens);
    },
  };
}
