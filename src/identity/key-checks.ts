// Checks what callers give for a key: its name, its expiry, and the grace period of its rotation.

import { IdentityError } from './error.ts';

/** Control characters, and those that change the direction of surrounding text. */
const UNSEEN = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;
const NAME_LENGTH_MAX = 100;

/** How long a rotated key may go on working. */
export const ROTATION_GRACE_MAX_MS = 7 * 86_400_000;

/** A key without expiry has no date; a later date than this is a mistake. */
const EXPIRY_MAX_MS = 100 * 366 * 86_400_000;

/** Trims a key's name; `null` where it is empty. Throws `invalid_key_name`. */
export function normaliseKeyName(name: string | null | undefined): string | null {
  const trimmed = name?.trim() ?? '';
  if (trimmed === '') return null;
  const isShown = !UNSEEN.test(trimmed) && trimmed.isWellFormed();
  if (trimmed.length <= NAME_LENGTH_MAX && isShown) return trimmed;
  throw new IdentityError(
    'invalid_key_name',
    `A key's name has at most ${NAME_LENGTH_MAX} characters and no control characters.`,
  );
}

/** Throws `invalid_grace`. */
export function requireGrace(graceMs: number): void {
  if (Number.isSafeInteger(graceMs) && graceMs >= 0 && graceMs <= ROTATION_GRACE_MAX_MS) return;
  throw new IdentityError(
    'invalid_grace',
    'The grace period of a rotation has at most 7 days. Give 0 to revoke the old key at once.',
  );
}

/** Null where there is none. Throws `invalid_expiry`. */
export function checkExpiry(expiresAt: number | undefined, now: number): number | null {
  if (expiresAt === undefined) return null;
  const isWithin = expiresAt > now && expiresAt < now + EXPIRY_MAX_MS;
  if (Number.isSafeInteger(expiresAt) && isWithin) return expiresAt;
  throw new IdentityError(
    'invalid_expiry',
    "A key's expiry date has to be in the future, within 100 years. A key without one never ends.",
  );
}
