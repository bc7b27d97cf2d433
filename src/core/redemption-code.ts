// Redemption codes: how they are made, read as people type them, and shown. Called by the command
// line. Whoever has the text of a code has its money, so the books keep a digest of it alone.

import type { RandomBytes } from './id.ts';

/** Digits and letters without I, L, O and U: nothing here looks like anything else. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** What people write for characters that are not in the alphabet. */
const LOOK_ALIKES: Readonly<Record<string, string>> = { O: '0', I: '1', L: '1' };

const PREFIX = 'TG';
/** Fifteen random characters are 75 bits; the sixteenth is the check. */
const RANDOM_LENGTH = 15;
const LENGTH = RANDOM_LENGTH + 1;
const GROUP_LENGTH = 4;

/** What separates groups when people type or paste: spaces, dashes of all kinds, dots, underscores. */
const SEPARATORS = /[\s\p{Dash}._]+/gu;

/** A new code in its normal form, such as `TG-7K3M-…`: the only form that a digest is made of. */
export function createRedemptionCode(randomBytes: RandomBytes): string {
  const values = Array.from(randomBytes(RANDOM_LENGTH), (byte) => byte % ALPHABET.length);
  const text = [...values, timesTwo(weighted(values))].map((value) => ALPHABET[value]).join('');
  return normalForm(text);
}

/**
 * The normal form of a code as somebody typed it: upper or lower case, with or without prefix and
 * dashes, look-alikes for what they look like. `undefined` where it cannot be a code: too short or
 * too long, a character that no code has, or a check that says that there is a slip in it. Every
 * single wrong character is found, and every two that changed places.
 */
export function readRedemptionCode(typed: string): string | undefined {
  if (typed.length > 100) return undefined;
  const plain = typed.replace(SEPARATORS, '').toUpperCase();
  const hasPrefix = plain.length === LENGTH + PREFIX.length && plain.startsWith(PREFIX);
  const text = Array.from(hasPrefix ? plain.slice(PREFIX.length) : plain, (character) => {
    return LOOK_ALIKES[character] ?? character;
  });
  const values = text.map((character) => ALPHABET.indexOf(character));
  if (values.length !== LENGTH || values.includes(-1)) return undefined;
  return weighted(values) === 0 ? normalForm(text.join('')) : undefined;
}

/** How a code is shown after its creation. Too little is left out to be guessed from a digest. */
export function maskRedemptionCode(code: string): string {
  return `${code.slice(0, PREFIX.length + 3)}…`;
}

function normalForm(text: string): string {
  const groups = [PREFIX];
  for (let at = 0; at < text.length; at += GROUP_LENGTH) {
    groups.push(text.slice(at, at + GROUP_LENGTH));
  }
  return groups.join('-');
}

/**
 * The values as digits of one number in the field of 32 elements, with powers of two as weights. In
 * a whole code, its check included, it is zero.
 */
function weighted(values: readonly number[]): number {
  return values.reduce((sum, value) => timesTwo(sum) ^ value, 0);
}

/** Doubling in that field, whose polynomial is x⁵ + x² + 1. */
function timesTwo(value: number): number {
  return value < 16 ? value << 1 : (value << 1) ^ 0b100101;
}
