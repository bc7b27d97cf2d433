// Sealing: a sealed value opens unchanged with its key, and with no other key.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { createSealer, deriveKey } from '../../src/store/seal.ts';

const randomBytes = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length));
const bytes = (text: string): Uint8Array => Buffer.from(text);

const KEY = deriveKey('s'.repeat(32), 'sealing');
const sealer = createSealer(KEY, randomBytes);

const anyText = fc.string({ unit: 'grapheme', maxLength: 300 });

test('law: what was sealed opens to the same text, and shows nothing of it', () => {
  fc.assert(
    fc.property(anyText, anyText, (text, context) => {
      const sealed = sealer.seal(text, bytes(context));
      expect(sealer.open(sealed, bytes(context))).toBe(text);
      expect(sealed.length).toBe(Buffer.byteLength(text) + 28);
      if (text.length > 8) expect(Buffer.from(sealed).includes(text)).toBe(false);
    }),
  );
});

test('law: it opens with the same key and the same context alone', () => {
  fc.assert(
    fc.property(anyText, anyText, anyText, (text, one, other) => {
      fc.pre(one !== other);
      const sealed = sealer.seal(text, bytes(one));
      expect(sealer.open(sealed, bytes(other))).toBeUndefined();
      const stranger = createSealer(deriveKey(other, 'sealing'), randomBytes);
      expect(stranger.open(sealed, bytes(one))).toBeUndefined();
    }),
  );
});

test('law: a changed, shortened or lengthened text does not open, and nothing throws', () => {
  fc.assert(
    fc.property(anyText, fc.nat(), fc.integer({ min: 1, max: 255 }), (text, place, change) => {
      const sealed = sealer.seal(text, bytes('context'));
      const changed = Uint8Array.from(sealed);
      const at = place % sealed.length;
      changed[at] = (changed[at] ?? 0) ^ change;
      expect(sealer.open(changed, bytes('context'))).toBeUndefined();
      expect(sealer.open(sealed.subarray(0, at), bytes('context'))).toBeUndefined();
      expect(sealer.open(Buffer.concat([sealed, changed]), bytes('context'))).toBeUndefined();
    }),
  );
});

test('the same text is never sealed the same way twice', () => {
  const sealed = Array.from({ length: 100 }, () => sealer.seal('text', bytes('context')));
  expect(new Set(sealed.map((each) => Buffer.from(each).toString('hex'))).size).toBe(100);
});

test('a purpose has a key of its own, the same one at every start', () => {
  const hex = (secret: string, purpose: string): string =>
    Buffer.from(deriveKey(secret, purpose)).toString('hex');
  const secret = 'x'.repeat(32);
  expect(hex(secret, 'a')).toBe(hex(secret, 'a'));
  expect(new Set([hex(secret, 'a'), hex(secret, 'b'), hex(`${secret}x`, 'a')]).size).toBe(3);
  expect(hex(secret, 'a')).toHaveLength(64);
});
