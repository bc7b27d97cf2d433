import { expect, test } from 'bun:test';
import { SurrogateJoiner } from '../../../src/wire/upstream/surrogates.ts';

test('well-formed text passes as it is', () => {
  const pairs = new SurrogateJoiner();
  expect(['a', '', '😀'].map((piece) => pairs.push(piece))).toEqual(['a', '', '😀']);
  expect(pairs.flush()).toBe('');
});

test('the first half of a pair waits for the second one, also behind an empty piece', () => {
  const pairs = new SurrogateJoiner();
  const pieces = ['a\ud83d', '', '\ude00\ud83d', '\ude01b'];
  expect(pieces.map((piece) => pairs.push(piece))).toEqual(['a', '', '😀', '😁b']);
});

test('a half without its other half is U+FFFD, and nothing is held behind it', () => {
  const pairs = new SurrogateJoiner();
  expect(pairs.push('\ude00\ud83d!\ud83d')).toBe('\ufffd\ufffd!');
  expect(pairs.push('\ud83d')).toBe('\ufffd');
  expect([pairs.flush(), pairs.flush(), pairs.push('c')]).toEqual(['\ufffd', '', 'c']);
});
