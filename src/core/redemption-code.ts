// Creates, parses and masks redemption codes. A code's text is worth its money to any holder, so
// the database stores only a digest.

import type { RandomBytes } from './id.ts';

/** Digits and letters without I, L, O and U, which look like others. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Common substitutes for characters that look alike. */
const LOOK_ALIKES: Readonly<Record<string, string>> = { O: '0', I: '1', L: '1' };

const PREFIX = 'TG';
/** Fifteen random characters are 75 bits; the sixteenth is the check. */
const RANDOM_LENGTH = 15;
const LENGTH = RANDOM_LENGTH + 1;
const GROUP_LENGTH = 4;

/** Separators between groups when people type or paste: spaces, dashes, dots, underscores. */
const SEPARATORS = /[\s\p{Dash}._]+/gu;

/** A new code in its canonical form, such as `TG-7K3M-…`, the only form that is hashed. */
export function createRedemptionCode(randomBytes: RandomBytes): string {
  const values = Array.from(randomBytes(RANDOM_LENGTH), (byte) => byte % ALPHABET.length);
  const text = [...values, timesTwo(weighted(values))].map((value) => ALPHABET[value]).join('');
  return normalForm(text);
}

/**
 * The canonical form of a typed code: ignores case, prefix and dashes, and replaces look-alikes.
 * `undefined` if it cannot be a code: wrong length, an invalid character, or a failed check. The
 * check detects every single wrong character and every swap of two.
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

/** The masked form of a code. It reveals too little to find the rest from a digest. */
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
 * The weighted sum of the values over the field of 32 elements, with powers of two as weights. It
 * is zero for a valid code, check included.
 */
function weighted(values: readonly number[]): number {
  return values.reduce((sum, value) => timesTwo(sum) ^ value, 0);
}

/** Doubling in that field, with the polynomial x⁵ + x² + 1. */
function timesTwo(value: number): number {
  return value < 16 ? value << 1 : (value << 1) ^ 0b100101;
}
