// Secrets of 256 random bits, and the digests that are stored of them. A fast digest is right here,
// because 256 bits cannot be guessed; passwords go through `passwords.ts`.

import { createHash, createHmac } from 'node:crypto';
import type { RandomBytes } from '../../core/id.ts';

const SECRET_BYTES = 32;
const SECRET_SHAPE = /^[A-Za-z0-9_-]{43}$/;

export function createSecret(randomBytes: RandomBytes): string {
  return Buffer.from(randomBytes(SECRET_BYTES)).toString('base64url');
}

/** Texts of another shape are not looked up. */
export function isWellFormedSecret(text: string): boolean {
  return SECRET_SHAPE.test(text);
}

/** SHA-256 in lower-case hexadecimal. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** HMAC-SHA-256: a row with it can be neither made nor matched without the key. */
export function keyedDigest(key: string, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex');
}
