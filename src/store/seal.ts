// Seals text that must be readable later (kept thinking, secrets of second factors), and derives
// the keys. Opening never throws: text that cannot be opened counts as missing.

import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import type { RandomBytes } from '../core/id.ts';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A key for one purpose, independent of the keys for other purposes. */
export function deriveKey(secret: string | Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', purpose, KEY_BYTES));
}

/** Seals with AES-256-GCM: a fresh nonce, then the content, then the tag. */
export function createSealer(key: Uint8Array, randomBytes: RandomBytes) {
  function openBytes(sealed: Uint8Array, context: Uint8Array): Buffer | undefined {
    if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
    const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES));
    decipher.setAAD(context).setAuthTag(sealed.subarray(-TAG_BYTES));
    const body = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
    try {
      return Buffer.concat([body, decipher.final()]);
    } catch {
      return undefined;
    }
  }

  return {
    /** `context` is not stored; opening requires the same one. */
    seal(content: string | Uint8Array, context: Uint8Array): Uint8Array {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce).setAAD(context);
      const body = cipher.update(typeof content === 'string' ? Buffer.from(content) : content);
      return Buffer.concat([nonce, body, cipher.final(), cipher.getAuthTag()]);
    },
    /** Undefined where the secret or the context differs, or the bytes were changed. */
    open: (sealed: Uint8Array, context: Uint8Array): string | undefined =>
      openBytes(sealed, context)?.toString('utf8'),
    /** As `open`, for content that is not text. */
    openBytes,
  };
}
