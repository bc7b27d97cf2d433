// Secrets of 256 random bits, and the digests under which they are stored. A fast digest suffices,
// because 256 bits cannot be guessed; passwords go through `passwords.ts`.

import { createHash, createHmac } from 'node:crypto';
import type { RandomBytes } from '../../core/id.ts';

const SECRET_BYTES = 32;
const SECRET_SHAPE = /^[A-Za-z0-9_-]{43}$/;

export function createSecret(randomBytes: RandomBytes): string {
  return Buffer.from(randomBytes(SECRET_BYTES)).toString('base64url');
}

/** Malformed texts are not looked up. */
export function isWellFormedSecret(text: string): boolean {
  return SECRET_SHAPE.test(text);
}

/** SHA-256 in lower-case hexadecimal. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** HMAC-SHA-256: without the key, a row can be neither forged nor matched. */
export function keyedDigest(key: string, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex');
}
