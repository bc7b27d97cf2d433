// Secrets of 256 random bits, and what is kept of them: their SHA-256. A fast digest is right here,
// because nobody guesses 256 bits; passwords go through `passwords.ts`.

import { createHash } from 'node:crypto';
import type { RandomBytes } from '../../core/id.ts';

const SECRET_BYTES = 32;
const SECRET_SHAPE = /^[A-Za-z0-9_-]{43}$/;

export function createSecret(randomBytes: RandomBytes): string {
  return Buffer.from(randomBytes(SECRET_BYTES)).toString('base64url');
}

/** Whether it may be one of ours; what is not is not even looked up. */
export function isWellFormedSecret(text: string): boolean {
  return SECRET_SHAPE.test(text);
}

/** In lower-case hexadecimal. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
