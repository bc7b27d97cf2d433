// The byte-pair counter against the published tokenizer.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { loadByteCounter, PIECE_CHARACTERS } from '../../src/generate/byte-pairs.ts';
import { pieces } from '../../src/generate/tokenizer.ts';

const count = await loadByteCounter();

/**
 * Text that looks like a special token is plain text. A byte order mark is left out: the published
 * tokenizer's decoder drops it, so that it does not find the tokens that hold one.
 */
const published = (text: string): number => countTokens(text, { disallowedSpecial: new Set() });

/** Runs, words, scripts and oddities, so that words are long and merges many. */
const fragment = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.constantFrom(
    'the quick brown fox',
    'internationalization',
    "I'm sure they'LL",
    '<|endoftext|>',
    '<|im_start|>',
    '\r\n\r\n',
    '\t\t',
    '漢字かな交じり文',
    'привет мир',
    '👩‍👩‍👧‍👦',
    'e\u0301\u0300\u0323',
    '\u200b\u200d\u2060',
    '\ud800',
    '\udfff',
    '\ufffd',
    '1234567',
    '////----====',
    'aGVsbG8gd29ybGQ',
  ),
  fc
    .tuple(fc.string({ unit: 'binary', minLength: 1, maxLength: 3 }), fc.nat(300))
    .map(([unit, times]) => unit.repeat(times)),
);
const text = fc
  .array(fragment, { maxLength: 12 })
  .map((parts) => parts.join('').replaceAll('\ufeff', ''));

test('counts what the published tokenizer counts', () => {
  fc.assert(
    fc.property(text, (drawn) => {
      for (const piece of pieces(drawn)) expect(count(piece)).toBe(published(piece));
    }),
    { numRuns: 500 },
  );
});

test('counts what the published tokenizer counts for a plane of characters', () => {
  for (let first = 0; first < 0x11000; first += 256) {
    const characters = Array.from({ length: 256 }, (_, at) => String.fromCodePoint(first + at));
    const piece = characters.join('').replaceAll('\ufeff', '').slice(0, PIECE_CHARACTERS);
    expect([first, count(piece)]).toEqual([first, published(piece)]);
  }
});

test('each of the tokens is one', () => {
  const words = ['hello', ' hello', '漢', ' the', '\n\n', '🙂', '\ufeff', ' '.repeat(64)];
  expect(words.map(count)).toEqual(words.map(() => 1));
});
