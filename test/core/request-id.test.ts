import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { createRequestId } from '../../src/core/id.ts';

const randomBytes = (length: number) => crypto.getRandomValues(new Uint8Array(length));

test('request ids are 32 digits that sort by time', () => {
  const instant = fc.integer({ min: 0, max: 2 ** 48 - 1 });
  fc.assert(
    fc.property(instant, instant, (one, other) => {
      const [first, second] = [one, other].map((now) => createRequestId(now, randomBytes));
      expect(first).toMatch(/^req_[0-9a-f]{32}$/);
      expect(first).not.toBe(second);
      if (one !== other) expect(`${first}` < `${second}`).toBe(one < other);
    }),
  );
});
