// Converts tool-call ids to the form that an upstream accepts, for calls and results alike. Within
// a conversation the mapping must be one-to-one.

import type { UpstreamProfile } from '../../core/profile.ts';

type Shape = UpstreamProfile['toolIds'];

const WORD = /^[A-Za-z0-9_-]{1,64}$/;
const NINE = /^[A-Za-z0-9]{9}$/;

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * An id of the required form: `word` is 1 to 64 of `A-Za-z0-9_-`, `nine` exactly 9 of `A-Za-z0-9`.
 * A matching id is unchanged. Any other becomes a digest of itself, so that a call and its result
 * agree and every turn produces the same bytes.
 */
export function toolIdFor(shape: Shape, id: string): string {
  switch (shape) {
    case 'any':
      return id;
    case 'word':
      return WORD.test(id) ? id : `call_${digest(id, 22)}`;
    case 'nine':
      return NINE.test(id) ? id : digest(id, 9);
  }
}

/** Digits per division, as many as a number can hold: bigints take most of the time. */
const GROUP_DIGITS = 8;
const GROUP = 62n ** BigInt(GROUP_DIGITS);

/**
 * Of at most 22 letters and digits. Nine are about 53 bits: two of a thousand texts collide with a
 * probability of 1 in 10¹⁰. The hash is not keyed: callers who construct collisions only confuse
 * their own conversation.
 */
export function digest(given: string, length: number): string {
  let rest = (Bun.hash.wyhash(given, 0n) << 64n) | Bun.hash.wyhash(given, 1n);
  const text = Buffer.allocUnsafe(length);
  let group = 0;
  for (let at = 0; at < length; at += 1) {
    if (at % GROUP_DIGITS === 0) {
      group = Number(rest % GROUP);
      rest /= GROUP;
    }
    // Faster than the remainder of such a large number.
    const others = Math.floor(group / 62);
    text[at] = DIGITS.charCodeAt(group - others * 62);
    group = others;
  }
  return text.toString('latin1');
}
