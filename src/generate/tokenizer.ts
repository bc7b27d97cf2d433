// The one tokenizer behind reservations and count_tokens. It keeps the event loop free: texts are
// cut into short pieces, results are remembered, long texts are sampled, and after a bounded
// number of characters it yields.

import type { CountText } from '../core/estimate.ts';

/**
 * Byte-pair merging is quadratic on runs without spaces: 32,000 CJK characters take 3 seconds in
 * one piece and 10 milliseconds in pieces of this length, at a difference of 0.2 % at most.
 */
const PIECE_CHARACTERS = 512;

/** Characters counted before the loop gets a turn; about 5 ms in the worst case. */
const YIELD_CHARACTERS = 16_384;

/** Texts above this are sampled: this many characters in evenly spaced pieces stand for all. */
const SAMPLE_ABOVE_CHARACTERS = 65_536;

/** Texts below this are cheaper to count than to look up. */
const REMEMBER_FROM_CHARACTERS = 48;

/** Remembered counts in each of two generations. */
const MEMORY_ENTRIES = 16_384;

type CountPiece = (text: string) => number;

export type Tokenizer = {
  /** Counts one text; a promise only where the loop has to breathe in between. */
  readonly countText: CountText;
  /** Counts a short text at once, without remembering it: answers as they stream by. */
  readonly countNow: (text: string) => number;
};

/** Loads the vocabulary, which takes a quarter of a second; call it before serving. */
export async function loadTokenizer(): Promise<Tokenizer> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
  // Text that looks like a special token is plain text here, not a reason to throw.
  const options = { disallowedSpecial: new Set<string>() };
  return createTokenizer((text) => countTokens(text, options));
}

/** The tokenizer's shell around any function that counts one piece. */
export function createTokenizer(countPiece: CountPiece): Tokenizer {
  const memory = createMemory();
  let countedSinceYield = 0;

  const breathe = async (): Promise<void> => {
    await new Promise<void>((resolve) => setImmediate(resolve));
    countedSinceYield = 0;
  };

  const countLong = async (text: string): Promise<number> => {
    let tokens = 0;
    let counted = 0;
    for (const piece of samplePieces(text)) {
      if (countedSinceYield >= YIELD_CHARACTERS) await breathe();
      tokens += countPiece(piece);
      counted += piece.length;
      countedSinceYield += piece.length;
    }
    return Math.ceil((tokens * text.length) / counted);
  };

  const countNow = (text: string): number => {
    countedSinceYield += text.length;
    if (text.length <= PIECE_CHARACTERS) return countPiece(text);
    let tokens = 0;
    for (const piece of pieces(text)) tokens += countPiece(piece);
    return tokens;
  };

  return {
    countNow,
    countText(text) {
      if (text === '') return 0;
      const short = text.length < REMEMBER_FROM_CHARACTERS;
      const key = short ? '' : memory.keyOf(text);
      if (!short) {
        const known = memory.get(key);
        if (known !== undefined) return known;
      }
      if (countedSinceYield + text.length <= YIELD_CHARACTERS) {
        const tokens = countNow(text);
        if (!short) memory.set(key, tokens);
        return tokens;
      }
      return breathe()
        .then(() => countLong(text))
        .then((tokens) => {
          if (!short) memory.set(key, tokens);
          return tokens;
        });
    },
  };
}

/** Cuts at a space where there is one, and never inside a surrogate pair. */
export function* pieces(text: string): Generator<string> {
  let start = 0;
  while (start < text.length) {
    const end = pieceEnd(text, start);
    yield text.slice(start, end);
    start = end;
  }
}

function pieceEnd(text: string, start: number): number {
  const limit = start + PIECE_CHARACTERS;
  if (limit >= text.length) return text.length;
  const space = text.lastIndexOf(' ', limit);
  if (space > start) return space;
  return isHighSurrogate(text.charCodeAt(limit - 1)) ? limit - 1 : limit;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

/** All pieces of a text, or evenly spaced ones where it is too long; the same ones every time. */
function* samplePieces(text: string): Generator<string> {
  if (text.length <= SAMPLE_ABOVE_CHARACTERS) {
    yield* pieces(text);
    return;
  }
  const samples = SAMPLE_ABOVE_CHARACTERS / PIECE_CHARACTERS;
  const stride = text.length / samples;
  for (let sample = 0; sample < samples; sample += 1) {
    const start = Math.floor(sample * stride);
    yield text.slice(start, start + PIECE_CHARACTERS);
  }
}

/**
 * Agents send their whole history with each turn, so nearly every text has been counted before.
 * Two generations: what is asked for again moves to the young one, the rest goes with the old.
 */
function createMemory() {
  let young = new Map<string, number>();
  let old = new Map<string, number>();
  const set = (key: string, tokens: number): void => {
    if (young.size >= MEMORY_ENTRIES) {
      old = young;
      young = new Map();
    }
    young.set(key, tokens);
  };
  return {
    keyOf: (text: string): string => `${Bun.hash(text).toString(36)}:${text.length}`,
    get(key: string): number | undefined {
      const recent = young.get(key);
      if (recent !== undefined) return recent;
      const older = old.get(key);
      if (older !== undefined) set(key, older);
      return older;
    },
    set,
  };
}
