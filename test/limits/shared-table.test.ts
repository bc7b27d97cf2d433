// The table of entries in shared memory: a key has one entry whoever makes it, an entry that is held
// keeps its key, and a thread that dies over making one leaves no entry behind and no lock.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { createMemory, openMemory } from '../../src/limits/shared/memory.ts';
import { createTable, type Key, recoverThread } from '../../src/limits/shared/table.ts';

const SIZE = { threads: 2, accounts: 3, models: 3 };
const STEPS = 80;

/** Makes the entry of a name, holds it, or lets go of what was held first. */
type Deed = { readonly kind: 'make' | 'hold' | 'release'; readonly name: string };

const deed: fc.Arbitrary<Deed> = fc.record({
  kind: fc.constantFrom('make', 'make', 'hold', 'hold', 'release'),
  name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
});

function createTables() {
  const buffer = createMemory(SIZE, 7n);
  let step = 0;
  let onStep: (step: number) => void = () => {};
  const memory = openMemory(buffer, () => {
    step += 1;
    onStep(step);
  });
  const held: { thread: number; entry: number; key: Key }[] = [];
  const tables = [0, 1].map((thread) => createTable(memory, 'accounts', thread));

  function doing(thread: number, { kind, name }: Deed): void {
    const table = tables[thread];
    const key = table?.keyOf(name);
    if (table === undefined || key === undefined) return;
    if (kind === 'make') {
      // The words of an entry say whose they are, so that it shows where two believe that they are.
      const fill = (entry: number): void => memory.store(entry + 1, key.hash);
      table.make(key, { isOver: () => true, fill });
    } else if (kind === 'hold') {
      const entry = table.hold(key);
      if (entry !== undefined) held.push({ thread, entry, key });
    } else {
      const index = held.findIndex((each) => each.thread === thread);
      const [own] = index < 0 ? [] : held.splice(index, 1);
      if (own !== undefined) table.release(own.entry);
    }
  }

  function check(): void {
    const keys = [0, 1, 2].map((index) => memory.load(8 + index * 26)).filter((key) => key > 1n);
    expect(new Set(keys).size).toBe(keys.length);
    for (const { entry, key } of held) {
      expect([memory.load(entry), memory.load(entry + 1)]).toEqual([key.hash, key.hash]);
    }
  }

  function interrupt(callback: (step: number) => void): void {
    step = 0;
    onStep = callback;
  }

  return { buffer, tables, held, doing, check, interrupt };
}

test('two threads that make and hold entries at any step agree on them', () => {
  let intruded = 0;
  fc.assert(
    fc.property(fc.array(deed, { maxLength: 12 }), deed, deed, (before, own, other) => {
      for (let at = 1; at < STEPS; at += 1) {
        const race = createTables();
        before.forEach((each, index) => {
          race.doing(index % 2, each);
        });
        let done = false;
        race.interrupt((step) => {
          if (step !== at) return;
          done = true;
          race.doing(1, other);
        });
        race.doing(0, own);
        race.interrupt(() => {});
        race.check();
        if (!done) break;
        intruded += 1;
      }
    }),
    { numRuns: 1_000 },
  );
  expect(intruded).toBeGreaterThan(2_000);
});

test('a thread that dies at any step has made an entry or has not, and holds nothing', () => {
  let deaths = 0;
  fc.assert(
    fc.property(fc.array(deed, { maxLength: 12 }), deed, (before, dying) => {
      for (let last = 1; last < STEPS; last += 1) {
        const race = createTables();
        before.forEach((each, index) => {
          race.doing(index % 2, each);
        });
        race.interrupt((step) => {
          if (step >= last) throw new Error('dead');
        });
        let died = false;
        try {
          race.doing(1, dying);
        } catch {
          died = true;
        }
        race.interrupt(() => {});
        if (!died) break;
        deaths += 1;
        recoverThread(openMemory(race.buffer), 1);
        race.held.splice(0, Infinity, ...race.held.filter(({ thread }) => thread === 0));
        race.check();
        for (const each of [...race.held])
          race.doing(0, { kind: 'release', name: `${each.entry}` });
        for (const name of ['f', 'g', 'h']) {
          race.doing(0, { kind: 'make', name });
          race.doing(0, { kind: 'hold', name });
        }
        race.check();
        expect(race.held.length).toBe(3);
      }
    }),
    { numRuns: 300 },
  );
  // Some 1,100 in most runs: far fewer would show nothing.
  expect(deaths).toBeGreaterThan(500);
});
