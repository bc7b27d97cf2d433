import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { createRequestId } from '../../src/core/id.ts';

const randomBytes = (length: number) => crypto.getRandomValues(new Uint8Array(length));

test('request ids are 24 letters and digits that sort by time', () => {
  const instant = fc.integer({ min: 0, max: 62 ** 8 - 1 });
  fc.assert(
    fc.property(instant, instant, (one, other) => {
      const [first, second] = [one, other].map((now) => createRequestId(now, randomBytes));
      expect(first).toMatch(/^req_[A-Za-z0-9]{24}$/);
      expect(first).not.toBe(second);
      if (one !== other) expect(`${first}` < `${second}`).toBe(one < other);
    }),
  );
});
