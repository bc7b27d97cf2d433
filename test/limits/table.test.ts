// The table that the limits count in: whatever is added, a record that is in use keeps its key and its
// numbers, and one that is idle is given to another key.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { createKeys, createTable, createTableMemory, FIRST_FIELD } from '../../src/limits/table.ts';

const SIZE = { fields: 2, cells: 1, threads: 2, capacity: 8 };

const keyOf = createKeys();

type Deed = { readonly kind: 'add' | 'leave'; readonly key: number };

const deeds: fc.Arbitrary<Deed[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('add', 'add', 'leave'),
    key: fc.nat(30).map((name) => keyOf(`${name}`)),
  }),
  { minLength: 40, maxLength: 80 },
);

/** Plays deeds, and answers how many keys were in use at most and how many found no room. */
function play(Buffer: typeof ArrayBuffer | typeof SharedArrayBuffer, steps: readonly Deed[]) {
  const inUse = new Set<number>();
  const table = createTable(createTableMemory(SIZE, Buffer), 1, (record) => {
    return !inUse.has(table.get(record));
  });
  const most = { inUse: 0, refused: 0 };
  for (const { kind, key } of steps) {
    if (kind === 'leave') inUse.delete(key);
    else if (!inUse.has(key)) {
      const record =
        table.find(key) ||
        table.add(key, 0, (made) => {
          table.set(made + FIRST_FIELD, key);
          table.addOwn(made, 0, 7);
        });
      if (record === 0) most.refused += 1;
      else inUse.add(key);
    }
    most.inUse = Math.max(most.inUse, inUse.size);
    for (const used of inUse) {
      const record = table.find(used);
      expect([table.get(record), table.get(record + FIRST_FIELD)]).toEqual([used, used]);
      expect(table.sum(record, 0)).toBe(7);
    }
  }
  return most;
}

test('memory of one thread grows when none of its records is idle', () => {
  fc.assert(
    fc.property(deeds, (steps) => {
      expect(play(ArrayBuffer, steps).refused).toBe(0);
    }),
    { numRuns: 500 },
  );
});

test('shared memory has room for as many keys as it has records, and refuses more', () => {
  let refused = 0;
  fc.assert(
    fc.property(deeds, (steps) => {
      const most = play(SharedArrayBuffer, steps);
      refused += most.refused;
      if (most.refused > 0) expect(most.inUse).toBe(SIZE.capacity);
    }),
    { numRuns: 500 },
  );
  expect(refused).toBeGreaterThan(100);
});

test('memory that was used for a while does not grow with the keys that come and go', () => {
  const memory = createTableMemory({ ...SIZE, capacity: 256 }, SharedArrayBuffer);
  const table = createTable(memory, 0, (record, nowMs) => table.get(record + FIRST_FIELD) <= nowMs);
  for (let nowMs = 0; nowMs < 10_000; nowMs += 1) {
    const record = table.add(keyOf(`${nowMs}`), nowMs, (made) => {
      table.set(made + FIRST_FIELD, nowMs + 32);
    });
    expect(record).toBeGreaterThan(0);
  }
});
