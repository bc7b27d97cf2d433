// The gate of an upstream: never more requests in progress than its limit, first come first served,
// bounded waits, and every place is released once.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { createGate, type Waiting } from '../../src/upstream/gate.ts';
import { createFakeTime } from '../support/fake-time.ts';

function waiting(entry: 'in' | 'full' | Waiting): Waiting {
  if (entry === 'in' || entry === 'full') throw new Error(`not waiting: ${entry}`);
  return entry;
}

test('so many get in, so many wait, and the next one is refused because it is full', async () => {
  const time = createFakeTime();
  const gate = createGate(time.startTimer, time.now);
  const limits = { maxInFlight: 2, queueLength: 2, queueMs: 100 };
  expect([gate.enter('a', limits), gate.enter('a', limits)]).toEqual(['in', 'in']);
  const [first, second] = [waiting(gate.enter('a', limits)), waiting(gate.enter('a', limits))];
  expect([gate.enter('a', limits), gate.inFlight(), gate.queued()]).toEqual(['full', 2, 2]);
  gate.exit('a');
  expect([await first.isIn, gate.inFlight(), gate.queued()]).toEqual([true, 2, 1]);
  time.advance(100);
  expect([await second.isIn, gate.queued(), time.waiting()]).toEqual([false, 0, 0]);
});

test('a caller that leaves is removed at once, and has no place to give back', async () => {
  const time = createFakeTime();
  const gate = createGate(time.startTimer, time.now);
  const limits = { maxInFlight: 1, queueLength: 2, queueMs: 100 };
  gate.enter('a', limits);
  const [first, second] = [waiting(gate.enter('a', limits)), waiting(gate.enter('a', limits))];
  first.leave();
  expect([await first.isIn, gate.queued()]).toEqual([false, 1]);
  gate.exit('a');
  // It was let in at that very moment: to leave is too late then.
  second.leave();
  expect([await second.isIn, gate.inFlight(), time.waiting()]).toEqual([true, 1, 0]);
});

test('a higher limit lets those in who wait, and a lower one admits none until there is room', async () => {
  const time = createFakeTime();
  const gate = createGate(time.startTimer, time.now);
  const limits = { maxInFlight: 1, queueLength: 9, queueMs: 100 };
  gate.enter('a', limits);
  const first = waiting(gate.enter('a', limits));
  const last = waiting(gate.enter('a', { ...limits, maxInFlight: 2 }));
  expect([await first.isIn, gate.inFlight(), gate.queued()]).toEqual([true, 2, 1]);
  const lower = waiting(gate.enter('a', limits));
  gate.exit('a');
  expect([gate.inFlight(), gate.queued()]).toEqual([1, 2]);
  gate.exit('a');
  expect([await last.isIn, gate.inFlight(), gate.queued()]).toEqual([true, 1, 1]);
  lower.leave();
});

test('while two accounts send, neither can hold all places, nor all of the queue', async () => {
  const time = createFakeTime();
  const gate = createGate(time.startTimer, time.now);
  const limits = { maxInFlight: 4, queueLength: 4, queueMs: 100 };
  expect(gate.enter('victim', limits)).toBe('in');
  gate.exit('victim');
  const entries = Array.from({ length: 7 }, () => gate.enter('attacker', limits));
  const shown = entries.map((entry) => (typeof entry === 'string' ? entry : 'waits'));
  expect(shown).toEqual(['in', 'in', 'in', 'waits', 'waits', 'waits', 'full']);
  expect(gate.enter('victim', limits)).toBe('in');
  // The next place goes to the account with fewer, although it came later.
  const later = waiting(gate.enter('victim', limits));
  gate.exit('attacker');
  expect(await later.isIn).toBe(true);
  time.advance(100);
  // Alone again, it may have them all.
  for (const account of ['victim', 'victim', 'attacker', 'attacker']) gate.exit(account);
  time.advance(60_000);
  const alone = Array.from({ length: 4 }, () => gate.enter('attacker', limits));
  expect(alone.every((entry) => entry === 'in')).toBe(true);
});

test('accounts that hold places leave an eighth of them to accounts that have none', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 64 }), fc.integer({ min: 2, max: 8 }), (places, many) => {
      const time = createFakeTime();
      const gate = createGate(time.startTimer, time.now);
      const limits = { maxInFlight: places, queueLength: 0, queueMs: 100 };
      const accounts = Array.from({ length: many }, (_, at) => `account ${at}`);
      for (const account of accounts) gate.enter(account, limits);
      const others = accounts.flatMap((account) => Array(places).fill(account));
      for (const account of others) gate.enter(account, limits);
      const left = Math.floor(places / 8);
      expect(gate.inFlight()).toBeLessThanOrEqual(Math.max(places - left, many));
      if (many < places - left)
        expect(gate.enter('newcomer', limits)).toBe(left > 0 ? 'in' : 'full');
    }),
  );
});

type Action =
  | { readonly kind: 'enter' }
  | { readonly kind: 'exit' | 'leave'; readonly which: number }
  | { readonly kind: 'advance'; readonly ms: number };

const actions: fc.Arbitrary<Action[]> = fc.array(
  fc.oneof(
    fc.constant({ kind: 'enter' as const }),
    fc.record({ kind: fc.constantFrom('exit' as const, 'leave' as const), which: fc.nat() }),
    fc.record({ kind: fc.constant('advance' as const), ms: fc.nat(60) }),
  ),
  { maxLength: 120 },
);

test('for any arrivals and departures: never above the limit, in order, and nothing leaks', async () => {
  const run = async (all: readonly Action[], maxInFlight: number, queueLength: number) => {
    const time = createFakeTime();
    const gate = createGate(time.startTimer, time.now);
    const limits = { maxInFlight, queueLength, queueMs: 100 };
    /** Who is in, in which order they came, and who still waits. */
    let inside = 0;
    const letIn: number[] = [];
    const queue: { readonly number: number; readonly entry: Waiting }[] = [];
    let arrivals = 0;
    const settle = async (): Promise<void> => {
      for (const each of [...queue]) {
        const isIn = await Promise.race([each.entry.isIn, Promise.resolve(undefined)]);
        if (isIn === undefined) continue;
        queue.splice(queue.indexOf(each), 1);
        if (isIn) {
          inside += 1;
          letIn.push(each.number);
        }
      }
    };
    for (const action of all) {
      if (action.kind === 'enter') {
        arrivals += 1;
        const entry = gate.enter('a', limits);
        if (entry === 'in') {
          expect(queue.length).toBe(0);
          inside += 1;
          letIn.push(arrivals);
        } else if (entry === 'full') expect(queue.length).toBe(queueLength);
        else queue.push({ number: arrivals, entry });
      } else if (action.kind === 'advance') time.advance(action.ms);
      else if (action.kind === 'leave') queue[action.which % queue.length || 0]?.entry.leave();
      else if (inside > 0) {
        inside -= 1;
        gate.exit('a');
      }
      await settle();
      expect(inside).toBeLessThanOrEqual(maxInFlight);
      expect([gate.inFlight(), gate.queued()]).toEqual([inside, queue.length]);
      expect(inside === maxInFlight || queue.length === 0).toBe(true);
    }
    expect(letIn).toEqual(letIn.toSorted((a, b) => a - b));
    time.advance(100);
    await settle();
    for (; inside > 0; inside -= 1) gate.exit('a');
    expect([gate.inFlight(), gate.queued(), time.waiting()]).toEqual([0, 0, 0]);
  };
  await fc.assert(fc.asyncProperty(actions, fc.integer({ min: 1, max: 4 }), fc.nat(4), run));
});
