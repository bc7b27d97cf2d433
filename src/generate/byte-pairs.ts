// Counts the o200k tokens of short texts with exact byte-pair merging, in slightly more than linear
// time. The tokenizer splits long texts before it calls this.

import { O200K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants';
import { hashPowers, loadVocabulary, rollingHash, type Vocabulary } from './vocabulary.ts';

/** The longest text counted in one call, in UTF-16 units. */
export const PIECE_CHARACTERS = 512;

/** One UTF-16 unit takes at most three bytes in UTF-8. */
const PIECE_BYTES = PIECE_CHARACTERS * 3;

/** The heap packs a rank (18 bits) and a position (11 bits) into one number. */
const POSITION_BITS = 11;
const POSITION_MASK = (1 << POSITION_BITS) - 1;

export type CountPiece = (text: string) => number;

export async function loadByteCounter(): Promise<CountPiece> {
  return createByteCounter(await loadVocabulary());
}

/** Texts that look like special tokens are plain text. Lone surrogates count as U+FFFD. */
export function createByteCounter({ longest, rankOf }: Vocabulary): CountPiece {
  const encoder = new TextEncoder();
  const words = new RegExp(O200K_TOKEN_SPLIT_REGEX);
  const powers = hashPowers(longest);
  const bytes = new Uint8Array(PIECE_BYTES);
  /** The hash of the bytes before each position. */
  const hashes = new Int32Array(PIECE_BYTES + 1);
  /**
   * A linked list of the parts of a word, indexed by start position: the next part and the previous
   * one.
   */
  const next = new Int32Array(PIECE_BYTES + 1);
  const previous = new Int32Array(PIECE_BYTES + 1);
  /** For each part, the rank of the token it forms with the next part, or -1. */
  const ranks = new Int32Array(PIECE_BYTES + 1);
  const heap = createHeap(PIECE_BYTES * 3);

  function rankAt(start: number, end: number): number {
    const length = end - start;
    if (length > longest) return -1;
    const before = Math.imul(hashes[start] ?? 0, powers[length] ?? 0);
    return rankOf(bytes, start, end, ((hashes[end] ?? 0) - before) | 0);
  }

  /** Adds the pair of the part at `start` and its successor to the heap if it forms a token. */
  function offer(start: number, wordEnd: number): void {
    const second = next[start] ?? wordEnd;
    const rank = second < wordEnd ? rankAt(start, next[second] ?? wordEnd) : -1;
    ranks[start] = rank;
    if (rank >= 0) heap.push((rank << POSITION_BITS) | start);
  }

  /** Merges the pair of the lowest rank, leftmost first, until no pair forms a token. */
  function countWord(start: number, end: number): number {
    if (rankAt(start, end) >= 0) return 1;
    for (let at = start; at < end; at += 1) {
      next[at] = at + 1;
      previous[at] = at - 1;
    }
    for (let at = start; at < end; at += 1) offer(at, end);
    let parts = end - start;
    while (heap.size() > 0) {
      const lowest = heap.pop();
      const at = lowest & POSITION_MASK;
      // Stale entry: the pair has changed or no longer exists.
      if (ranks[at] !== lowest >> POSITION_BITS) continue;
      const second = next[at] ?? end;
      const third = next[second] ?? end;
      ranks[second] = -1;
      next[at] = third;
      if (third < end) previous[third] = at;
      parts -= 1;
      offer(at, end);
      if (at > start) offer(previous[at] ?? start, end);
    }
    return parts;
  }

  return (text) => {
    const { written } = encoder.encodeInto(text, bytes);
    for (let at = 0; at < written; at += 1) {
      hashes[at + 1] = rollingHash(hashes[at] ?? 0, bytes[at] ?? 0);
    }
    const isAscii = written === text.length;
    let tokens = 0;
    let start = 0;
    let from = 0;
    words.lastIndex = 0;
    // Words are contiguous, so `lastIndex` is where the next one starts.
    while (words.test(text)) {
      const to = words.lastIndex;
      const end = isAscii ? to : start + utf8Length(text, from, to);
      tokens += countWord(start, end);
      start = end;
      from = to;
    }
    return tokens;
  };
}

/** UTF-8 length of a slice that starts and ends on character boundaries. */
function utf8Length(text: string, from: number, to: number): number {
  let length = 0;
  for (let at = from; at < to; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x80) length += 1;
    else if (code < 0x800) length += 2;
    else if ((code & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      length += 4;
      at += 1;
    } else length += 3;
  }
  return length;
}

/** A min-heap of numbers. */
function createHeap(capacity: number) {
  const heap = new Int32Array(capacity);
  let size = 0;
  return {
    size: () => size,
    push(value: number): void {
      let at = size;
      size += 1;
      while (at > 0) {
        const parent = (at - 1) >> 1;
        const above = heap[parent] ?? 0;
        if (above <= value) break;
        heap[at] = above;
        at = parent;
      }
      heap[at] = value;
    },
    /** Removes the minimum. The heap must not be empty. */
    pop(): number {
      const lowest = heap[0] ?? 0;
      size -= 1;
      const value = heap[size] ?? 0;
      let at = 0;
      for (;;) {
        let child = 2 * at + 1;
        if (child >= size) break;
        if (child + 1 < size && (heap[child + 1] ?? 0) < (heap[child] ?? 0)) child += 1;
        const below = heap[child] ?? 0;
        if (below >= value) break;
        heap[at] = below;
        at = child;
      }
      heap[at] = value;
      return lowest;
    },
  };
}
