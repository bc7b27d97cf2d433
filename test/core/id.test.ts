// Identifiers: their shape, that they use all of their alphabet evenly, and that request ids sort
// by time.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  createId,
  createRequestId,
  randomText,
  requestIdBytes,
  requestIdRange,
} from '../../src/core/id.ts';

const random = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length));

test('an id is its prefix and 24 letters and digits', () => {
  for (const prefix of ['acct_', 'key_', 'blk_', 'op_', 'cred_'] as const) {
    expect(createId(prefix, random)).toMatch(new RegExp(`^${prefix}[A-Za-z0-9]{24}$`));
  }
  expect(createRequestId(Date.now(), random)).toMatch(/^req_[0-9a-f]{32}$/);
});

test('random text has the length that was asked for, however many bytes are unusable', () => {
  let calls = 0;
  // The first helping is only bytes that would favour some letters.
  const scarce = (length: number): Uint8Array => {
    calls += 1;
    return new Uint8Array(length).fill(calls === 1 ? 255 : 61);
  };
  expect(randomText(5, scarce)).toBe('99999');
  expect(calls).toBe(2);
});

test('every letter and digit is equally likely: all bytes together give each as often', () => {
  const all = Uint8Array.from({ length: 248 }, (_, index) => index);
  const text = randomText(248, () => all);
  const times = new Map<string, number>();
  for (const letter of text) times.set(letter, (times.get(letter) ?? 0) + 1);
  expect(times.size).toBe(62);
  expect([...new Set(times.values())]).toEqual([4]);
});

test('request ids of later milliseconds sort later, and those of one millisecond differ', () => {
  const time = fc.integer({ min: 0, max: 2 ** 48 - 1 });
  fc.assert(
    fc.property(time, time, (one, other) => {
      fc.pre(one < other);
      expect(createRequestId(one, random) < createRequestId(other, random)).toBe(true);
    }),
  );
  const now = Date.now();
  const ids = new Set(Array.from({ length: 1_000 }, () => createRequestId(now, random)));
  expect(ids.size).toBe(1_000);
});

const someId = fc.tuple(
  fc.integer({ min: 2 ** 40, max: 2 ** 48 - 1 }),
  fc.uint8Array({ minLength: 10, maxLength: 10 }),
);

test('law: the range of a beginning has the ids that begin so, and no others', () => {
  fc.assert(
    fc.property(someId, someId, fc.integer({ min: 6, max: 36 }), ([one, a], [other, b], length) => {
      const id = createRequestId(one, () => a);
      const another = createRequestId(other, () => b);
      for (const beginning of [id.slice(0, length), `other ${id}`.slice(0, length)]) {
        const [first, last] = requestIdRange(beginning);
        for (const each of [id, another, `other ${id}`, 'other']) {
          const bytes = requestIdBytes(each);
          const isWithin = Buffer.compare(first, bytes) <= 0 && Buffer.compare(bytes, last) <= 0;
          expect(isWithin).toBe(each.startsWith(beginning));
        }
      }
    }),
  );
});
