// The laws of recordings in any dialect: they give the events and answers beside them, however the
// bytes are split, and changed bytes never throw.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Recording, recordings } from '../../support/golden.ts';
import { classified, type Decoded, isLeftOut, splitAt, toLines } from './support.ts';

type Decode = (reads: readonly Uint8Array[]) => Decoded;

export type RecordedStream = Recording & { readonly decode: Decode; readonly whole: Decoded };

/** The streams of a folder. `decoderOf` reads a recording with the profile that its bytes name. */
export function recordedStreams(
  folder: string,
  decoderOf: (bytes: Uint8Array) => Decode,
): readonly RecordedStream[] {
  return recordings(folder, 'sse').map((recording) => {
    const decode = decoderOf(recording.bytes);
    return { ...recording, decode, whole: decode([recording.bytes]) };
  });
}

/** `leavesOut`: whether the dialect leaves out what follows the arguments of a call. */
export function testRecordedStreams(
  streams: readonly RecordedStream[],
  { leavesOut }: { readonly leavesOut: boolean },
): void {
  describe('recorded streams', () => {
    for (const { title, whole, expectLines } of streams) {
      test(title, () => {
        const lines = toLines(whole);
        expect(lines.join('\n')).not.toContain('SECRET');
        expectLines(lines);
      });
    }
  });

  describe('any split of the bytes gives the same events', () => {
    for (const { title, bytes, decode, whole } of streams) {
      if (bytes.length < 4_000) {
        test(`two reads, at every position: ${title}`, () => {
          for (let at = 0; at <= bytes.length; at += 1) {
            expect(decode(splitAt(bytes, [at]))).toEqual(whole);
          }
        });
      }
      test(`every byte a read of its own: ${title}`, () => {
        expect(decode(bytewise(bytes))).toEqual(whole);
      });
    }

    test('many reads, at random positions', () => {
      fc.assert(
        fc.property(fc.constantFrom(...streams), fc.array(fc.nat()), (stream, positions) => {
          const cuts = positions.map((position) => position % (stream.bytes.length + 1));
          expect(stream.decode(splitAt(stream.bytes, cuts))).toEqual(stream.whole);
        }),
        { numRuns: 300 },
      );
    });

    test('cases 72 and 73: other line ends give the same events', () => {
      for (const { bytes, decode, whole } of streams) {
        const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
        for (const lineEnd of ['\r\n', '\r']) {
          const other = new TextEncoder().encode(text.replaceAll('\n', lineEnd));
          expect(decode([other])).toEqual(whole);
          expect(decode(bytewise(other))).toEqual(whole);
        }
      }
    });
  });

  test('mutated recordings never throw, and events are in order and bounded', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...streams),
        fc.array(fc.record({ at: fc.nat(), byte: fc.nat(255) }), { minLength: 1, maxLength: 8 }),
        fc.nat(),
        ({ bytes, decode }, changes, cut) => {
          if (bytes.length === 0) return;
          const mutated = bytes.slice();
          for (const { at, byte } of changes) mutated[at % bytes.length] = byte;
          const decoded = decode(splitAt(mutated, [cut % bytes.length]));
          expectWellFormed(decoded);
          if (!leavesOut) expect(decoded.events.some(isLeftOut)).toBe(false);
        },
      ),
      { numRuns: 2_000 },
    );
  });
}

/** The whole answers of a folder. */
export function testRecordedBodies(folder: string, read: (bytes: Uint8Array) => object): void {
  describe('recorded whole answers', () => {
    for (const { title, bytes, expectLines } of recordings(folder, 'json')) {
      test(title, () => {
        const lines = JSON.stringify(classified(read(bytes)), null, 1);
        expect(lines).not.toContain('SECRET');
        expectLines(lines.split('\n'));
      });
    }
  });
}

export function bytewise(bytes: Uint8Array): Uint8Array[] {
  return Array.from(bytes, (_, index) => bytes.subarray(index, index + 1));
}

/** The promises of the neutral stream, for any input. */
export function expectWellFormed({ events, failure }: Decoded): void {
  let started = 0;
  const ids = new Set<string>();
  events.forEach((event, position) => {
    const isLast = position === events.length - 1;
    if (event.kind === 'finish') expect(isLast && failure === undefined).toBe(true);
    if (event.kind === 'tool-start') {
      expect(event.index).toBe(started);
      expect(event.name).not.toBe('');
      expect(ids.has(event.id)).toBe(false);
      ids.add(event.id);
      started += 1;
    }
    if (event.kind === 'tool-delta' && !isLeftOut(event)) {
      expect(event.index).toBeLessThan(started);
    }
  });
  if (failure === undefined) expect(events.at(-1)?.kind).toBe('finish');
}
