// The o200k vocabulary: which byte sequences are tokens, and their ranks. The byte-pair counter
// loads it once. It uses typed arrays only: as strings in a map it would take 100 MB.

import vocabularyFile from 'gpt-tokenizer/data/o200k_base.tiktoken' with { type: 'file' };

export type Vocabulary = {
  /** Bytes of the longest token. */
  readonly longest: number;
  /**
   * The rank of the token formed by these bytes of `text`, or -1. Pairs of lower rank merge first.
   * `hash` is the `rollingHash` of the bytes.
   */
  readonly rankOf: (text: Uint8Array, start: number, end: number, hash: number) => number;
};

/** A power of two, more than twice the number of tokens, which keeps probe sequences short. */
const SLOTS = 1 << 19;
const SLOT_SHIFT = 32 - 19;

const HASH_BASE = 0x01000193;

/** Multiplier that spreads a hash over all bits; the slot is taken from the highest ones. */
const SPREAD = 0x9e3779b1;

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const SPACE = 0x20;
const NEWLINE = 0x0a;

/**
 * Extends a hash by one byte. The hash of bytes `a` to `b` of a text is `hash(b) - hash(a) *
 * base^(b - a)`. Collisions are harmless: matches are compared byte by byte.
 */
export function rollingHash(hash: number, byte: number): number {
  return (Math.imul(hash, HASH_BASE) + byte + 1) | 0;
}

/** `base^length` for each length up to `longest`. */
export function hashPowers(longest: number): Int32Array {
  const powers = new Int32Array(longest + 1);
  let power = 1;
  for (let length = 0; length <= longest; length += 1) {
    powers[length] = power;
    power = Math.imul(power, HASH_BASE);
  }
  return powers;
}

/** Takes tens of milliseconds. */
export async function loadVocabulary(): Promise<Vocabulary> {
  const { bytes, starts } = parseTokens(await Bun.file(vocabularyFile).bytes());
  const tokens = starts.length - 1;
  const hashes = new Int32Array(tokens);
  /** Rank + 1 by slot, with linear probing from the slot of the hash. */
  const slots = new Uint32Array(SLOTS);
  let longest = 0;
  for (let rank = 0; rank < tokens; rank += 1) {
    const start = starts[rank] ?? 0;
    const end = starts[rank + 1] ?? 0;
    let hash = 0;
    for (let at = start; at < end; at += 1) hash = rollingHash(hash, bytes[at] ?? 0);
    hashes[rank] = hash;
    longest = Math.max(longest, end - start);
    let slot = Math.imul(hash, SPREAD) >>> SLOT_SHIFT;
    while (slots[slot] !== 0) slot = (slot + 1) % SLOTS;
    slots[slot] = rank + 1;
  }

  function isToken(rank: number, text: Uint8Array, start: number, end: number): boolean {
    const from = starts[rank] ?? 0;
    if ((starts[rank + 1] ?? 0) - from !== end - start) return false;
    for (let index = start; index < end; index += 1) {
      if (text[index] !== bytes[from + index - start]) return false;
    }
    return true;
  }

  return {
    longest,
    rankOf(text, start, end, hash) {
      for (let slot = Math.imul(hash, SPREAD) >>> SLOT_SHIFT; ; slot = (slot + 1) % SLOTS) {
        const rank = (slots[slot] ?? 0) - 1;
        if (rank < 0) return -1;
        if (hashes[rank] === hash && isToken(rank, text, start, end)) return rank;
      }
    },
  };
}

/** One line per token: its bytes in base64, a space, its rank. Ranks ascend from 0. */
function parseTokens(file: Uint8Array): { bytes: Uint8Array; starts: Uint32Array } {
  const sextets = new Uint8Array(256);
  for (let value = 0; value < 64; value += 1) sextets[BASE64.charCodeAt(value)] = value;
  const bytes = new Uint8Array(file.length);
  const starts = [0];
  let length = 0;
  let at = 0;
  while (at < file.length) {
    let bits = 0;
    let bitCount = 0;
    for (; file[at] !== SPACE; at += 1) {
      // Padding adds no complete byte that is kept; the excess is cut off below.
      bits = ((bits << 6) | (sextets[file[at] ?? 0] ?? 0)) & 0xffff;
      bitCount += 6;
      if (bitCount < 8) continue;
      bitCount -= 8;
      bytes[length] = bits >> bitCount;
      length += 1;
    }
    for (let last = at - 1; file[last] === PADDING; last -= 1) length -= 1;
    starts.push(length);
    at = file.indexOf(NEWLINE, at) + 1;
    if (at === 0) break;
  }
  return { bytes: bytes.slice(0, length), starts: Uint32Array.from(starts) };
}

const PADDING = 0x3d;
