// What is written is what every reader gets, at any moment and in any pieces, and packing keeps it.

import { describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { BEGINNING, Transcript } from '../../src/idempotency/transcript.ts';
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
  test('gives each reader all bytes in order, however far it is behind', () => {
    fc.assert(
      fc.property(frames, fc.infiniteStream(fc.nat(3)), (texts, turns) => {
        const transcript = new Transcript();
        const readers = [0, 1, 2].map(() => ({ cursor: BEGINNING, got: [] as Uint8Array[] }));
        const read = (reader: (typeof readers)[number] | undefined): boolean => {
          if (reader === undefined) return false;
          const { bytes, next } = transcript.read(reader.cursor);
          reader.cursor = next;
          if (bytes !== undefined) reader.got.push(bytes);
          return bytes !== undefined;
        };
        for (const text of texts) {
          expect(transcript.append(bytesOf(text))).toBe(true);
          read(readers[turns.next().value]);
        }
        transcript.end();
        const all = Buffer.concat(texts.map(bytesOf));
        for (const reader of readers) {
          while (read(reader));
          expect(Buffer.concat(reader.got).equals(all)).toBe(true);
        }
        expect(Buffer.from(transcript.all()).equals(all)).toBe(true);
        const again = Transcript.unpack(transcript.pack());
        expect(again.isComplete()).toBe(true);
        expect(Buffer.from(again.all()).equals(all)).toBe(true);
      }),
      { numRuns: samples(100, 2_000) },
    );
  });

  test('copies nothing for a reader that keeps up, and never changes what it got', () => {
    const transcript = new Transcript();
    let cursor = BEGINNING;
    const got: Uint8Array[] = [];
    const buffers = new Set<unknown>();
    for (let index = 0; index < 8_000; index += 1) {
      transcript.append(bytesOf(`data: ${index}\n\n`));
      const { bytes, next } = transcript.read(cursor);
      cursor = next;
      if (bytes === undefined) throw new Error('nothing to read');
      got.push(bytes);
      buffers.add(bytes.buffer);
    }
    const all = Array.from({ length: 8_000 }, (_, index) => `data: ${index}\n\n`).join('');
    expect(Buffer.concat(got).toString()).toBe(all);
    // The buffer doubles up to a segment, and a full segment is left to its readers.
    expect(buffers.size).toBeLessThan(20);
  });

  test('takes a whole answer of any size, and says whether it is short', () => {
    for (const size of [0, 1, 65_536, 65_537, 400_000]) {
      const transcript = new Transcript({ most: 100, onGrowth: () => {} });
      const bytes = randomBytes(size);
      transcript.fill(bytes);
      expect([transcript.isCut(), transcript.isComplete()]).toEqual([false, true]);
      expect(Buffer.from(transcript.all()).equals(bytes)).toBe(true);
      expect(transcript.isShort()).toBe(size <= 65_536);
    }
  });

  test('keeps a reader in its place when its end is packed', () => {
    const transcript = new Transcript();
    transcript.append(bytesOf('abc'));
    const { next } = transcript.read(BEGINNING);
    transcript.append(bytesOf('def'));
    transcript.end();
    transcript.pack();
    expect(Buffer.from(transcript.read(next).bytes ?? []).toString()).toBe('def');
  });

  test('holds a long stream in a hundredth of its size', () => {
    const transcript = new Transcript();
    const frame = (index: number) =>
      `data: {"id":"chatcmpl-0123456789abcdef01234567","object":"chat.completion.chunk","created":1795409499,"model":"m","choices":[{"index":0,"delta":{"content":" ${index % 977}"},"finish_reason":null}]}\n\n`;
    for (let index = 0; index < 20_000; index += 1) transcript.append(bytesOf(frame(index)));
    expect(transcript.size()).toBeLessThan(65_536 + (20_000 * frame(0).length) / 20);
  });

  test('ends, cut, where it is full, and says how much memory it takes', () => {
    let memory = 0;
    const transcript = new Transcript({ most: 300_000, onGrowth: (bytes) => (memory += bytes) });
    const noise = (): Uint8Array => crypto.getRandomValues(new Uint8Array(50_000));
    let appended = 0;
    while (transcript.append(noise())) appended += 1;
    expect([appended, transcript.isCut(), transcript.isComplete()]).toEqual([5, true, true]);
    expect(memory).toBe(transcript.size());
    expect(memory).toBeLessThan(400_000);
    expect(transcript.append(noise())).toBe(false);
  });

  test('wakes its readers at each change and at its end', async () => {
    const transcript = new Transcript();
    const first = transcript.changed();
    transcript.append(bytesOf('a'));
    await first;
    const last = transcript.changed();
    transcript.end();
    await last;
  });
});
