import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { CharacterJoiner } from '../../../../src/wire/upstream/chat/characters.ts';
import type { PlainDelta } from '../../../../src/wire/upstream/chat/delta.ts';

function read(...deltas: readonly PlainDelta[]): PlainDelta[] {
  const read: PlainDelta[] = [];
  const characters = new CharacterJoiner({ push: (delta) => read.push(delta) });
  for (const delta of deltas) characters.push(delta);
  characters.flush();
  return read;
}

function text(piece: string): PlainDelta {
  return { kind: 'text-delta', text: piece };
}

function reasoning(piece: string): PlainDelta {
  return { kind: 'reasoning-delta', text: piece };
}

test('case 85: the halves of a character in two chunks are one character', () => {
  expect(read(text('a\ud83d'), text('\ude00b'))).toEqual([text('a'), text('😀b')]);
  expect(read(reasoning('\ud83d'), reasoning('\ude00'))).toEqual([reasoning('😀')]);
});

test('case 85: half a character becomes U+FFFD, in the kind that it came in', () => {
  expect(read(text('a\ud83d'))).toEqual([text('a'), text('\ufffd')]);
  expect(read(text('\ude00\ud83d!'))).toEqual([text('\ufffd\ufffd!')]);
  expect(read(reasoning('\ud83d'), text('\ude00'))).toEqual([reasoning('\ufffd'), text('\ufffd')]);
});

test('any text passes, however it is cut', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.array(fc.nat()), (whole, positions) => {
      const cuts = positions.map((position) => position % (whole.length + 1)).sort((a, b) => a - b);
      const borders = [0, ...cuts, whole.length];
      const pieces = borders.slice(1).map((border, index) => whole.slice(borders[index], border));
      const decoded = read(...pieces.map(text));
      expect(decoded.map((delta) => delta.text).join('')).toBe(whole);
      expect(decoded.every((delta) => delta.text !== '' && delta.text.isWellFormed())).toBe(true);
    }),
  );
});
