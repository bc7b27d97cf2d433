// What is recorded is what a repeat gets, in any pieces.

import { describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { isShort, Transcript, unpack, unpackedBytes } from '../../src/idempotency/transcript.ts';
import { samples } from '../support/tier.ts';

const bytesOf = (text: string): Uint8Array => Buffer.from(text);

/** Text as streams have it: a frame that repeats, with other words in it. */
const frames = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.string({ maxLength: 40 }).map((word) => `data: {"a":"${word}"}\n\n`),
    },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 200_000 }).map((size) => 'x'.repeat(size)) },
  ),
  { maxLength: 60 },
);

describe('a transcript', () => {
  test('is all bytes in order, in segments, and says how much memory it takes', () => {
    fc.assert(
      fc.property(frames, (texts) => {
        let memory = 0;
        const transcript = new Transcript((bytes) => (memory += bytes));
        for (const text of texts) {
          transcript.append(bytesOf(text));
          expect(memory).toBe(transcript.size());
        }
        const all = Buffer.concat(texts.map(bytesOf));
        const packed = transcript.pack();
        const segments = [...unpack(packed)];
        expect(Buffer.concat(segments).equals(all)).toBe(true);
        expect(segments.every(({ length }) => length <= 65_536)).toBe(true);
        expect(unpackedBytes(packed)).toBe(Math.ceil(all.length / 65_536) * 65_536);
      }),
      { numRuns: samples(100, 2_000) },
    );
  });

  test('is short up to one segment', () => {
    for (const size of [0, 1, 65_536, 65_537, 400_000]) {
      const transcript = new Transcript();
      transcript.append(randomBytes(size));
      expect(isShort(transcript.pack())).toBe(size <= 65_536);
    }
  });

  test('holds a long stream in a hundredth of its size', () => {
    const transcript = new Transcript();
    const frame = (index: number) =>
      `data: {"id":"chatcmpl-0123456789abcdef01234567","object":"chat.completion.chunk","created":1795409499,"model":"m","choices":[{"index":0,"delta":{"content":" ${index % 977}"},"finish_reason":null}]}\n\n`;
    for (let index = 0; index < 20_000; index += 1) transcript.append(bytesOf(frame(index)));
    expect(transcript.size()).toBeLessThan(65_536 + (20_000 * frame(0).length) / 20);
  });
});
