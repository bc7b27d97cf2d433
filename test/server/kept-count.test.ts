import { expect, test } from 'bun:test';
import { createKeptCount } from '../../src/server/kept-count.ts';

test('reads the sums once an interval, and on a single node only after a removal', () => {
  let counted = 0;
  const kept = createKeptCount(() => {
    counted += 1;
  });
  const countedBy = (work: () => void): number => {
    const before = counted;
    work();
    return counted - before;
  };
  expect(countedBy(() => kept.refresh(false))).toBe(0);
  expect(countedBy(() => [kept.outdate(), kept.outdate()])).toBe(0);
  expect(countedBy(() => kept.refresh(false))).toBe(1);
  expect(countedBy(() => kept.refresh(false))).toBe(0);
  expect(countedBy(() => kept.refresh(true))).toBe(1);
});
