// The filter of request ids knows every id that was added, and mistakes few others for members.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { createRequestId, requestIdBytes } from '../../src/core/id.ts';
import { createIdFilter, mayHaveId } from '../../src/core/id-filter.ts';

const idOf = (seed: Uint8Array, nowMs: number) =>
  requestIdBytes(createRequestId(nowMs, (length) => seed.slice(0, length)));

const ids = fc
  .tuple(fc.uint8Array({ minLength: 10, maxLength: 10 }), fc.nat(10 ** 9))
  .map(([seed, ms]) => idOf(seed, 1_700_000_000_000 + ms));

test('every id that was added is found', () => {
  fc.assert(
    fc.property(fc.array(ids, { minLength: 1 }), (added) => {
      const filter = createIdFilter(added.length);
      for (const id of added) filter.add(id);
      expect(added.every((id) => mayHaveId(filter.bits, id))).toBe(true);
    }),
  );
});

test('an empty filter knows no id', () => {
  fc.assert(fc.property(ids, (id) => !mayHaveId(createIdFilter(0).bits, id)));
});

test('of ids that were not added, fewer than one in 500 is mistaken for one', () => {
  const random = (length: number) => crypto.getRandomValues(new Uint8Array(length));
  const drawn = () => requestIdBytes(createRequestId(1_800_000_000_000, random));
  const count = 5_000;
  const filter = createIdFilter(count);
  for (let each = 0; each < count; each += 1) filter.add(drawn());
  let mistaken = 0;
  for (let each = 0; each < 20_000; each += 1) mistaken += mayHaveId(filter.bits, drawn()) ? 1 : 0;
  expect(mistaken).toBeLessThan(40);
});
