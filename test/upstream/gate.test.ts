// The gate of an upstream: never more under way than its limit, first come first served, nobody
// waits for longer than said, and every place is given back once.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { createGate, type Waiting } from '../../src/upstream/gate.ts';
import { createFakeTime } from '../support/fake-time.ts';

function waiting(entry: 'in' | 'full' | Waiting): Waiting {
  if (entry === 'in' || entry === 'full') throw new Error(`not waiting: ${entry}`);
  return entry;
}

test('so many get in, so many wait, and the next one is told that it is full', async () => {
  const time = createFakeTime();
  const gate = createGate(time.startTimer);
  const limits = { maxInFlight: 2, queueLength: 2, queueMs: 100 };
  expect([gate.enter(limits), gate.enter(limits)]).toEqual(['in', 'in']);
  const [first, second] = [waiting(gate.enter(limits)), waiting(gate.enter(limits))];
  expect([gate.enter(limits), gate.inFlight(), gate.queued()]).toEqual(['full', 2, 2]);
  gate.exit();
  expect([await first.isIn, gate.inFlight(), gate.queued()]).toEqual([true, 2, 1]);
  time.advance(100);
  expect([await second.isIn, gate.queued(), time.waiting()]).toEqual([false, 0, 0]);
});

test('whoever leaves is gone at once, and has no place to give back', async () => {
  const time = createFakeTime();
  const gate = createGate(time.startTimer);
  const limits = { maxInFlight: 1, queueLength: 2, queueMs: 100 };
  gate.enter(limits);
  const [first, second] = [waiting(gate.enter(limits)), waiting(gate.enter(limits))];
  first.leave();
  expect([await first.isIn, gate.queued()]).toEqual([false, 1]);
  gate.exit();
  // It was let in at that very moment: to leave is too late then.
  second.leave();
  expect([await second.isIn, gate.inFlight(), time.waiting()]).toEqual([true, 1, 0]);
});

test('a higher limit lets those in who wait, and a lower one nobody until there is room', async () => {
  const gate = createGate(createFakeTime().startTimer);
  const limits = { maxInFlight: 1, queueLength: 9, queueMs: 100 };
  gate.enter(limits);
  const first = waiting(gate.enter(limits));
  const last = waiting(gate.enter({ ...limits, maxInFlight: 2 }));
  expect([await first.isIn, gate.inFlight(), gate.queued()]).toEqual([true, 2, 1]);
  const lower = waiting(gate.enter(limits));
  gate.exit();
  expect([gate.inFlight(), gate.queued()]).toEqual([1, 2]);
  gate.exit();
  expect([await last.isIn, gate.inFlight(), gate.queued()]).toEqual([true, 1, 1]);
  lower.leave();
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

test('whatever comes and goes: never above the limit, in order, and nothing leaks', async () => {
  const run = async (all: readonly Action[], maxInFlight: number, queueLength: number) => {
    const time = createFakeTime();
    const gate = createGate(time.startTimer);
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
        const entry = gate.enter(limits);
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
        gate.exit();
      }
      await settle();
      expect(inside).toBeLessThanOrEqual(maxInFlight);
      expect([gate.inFlight(), gate.queued()]).toEqual([inside, queue.length]);
      expect(inside === maxInFlight || queue.length === 0).toBe(true);
    }
    expect(letIn).toEqual(letIn.toSorted((a, b) => a - b));
    time.advance(100);
    await settle();
    for (; inside > 0; inside -= 1) gate.exit();
    expect([gate.inFlight(), gate.queued(), time.waiting()]).toEqual([0, 0, 0]);
  };
  await fc.assert(fc.asyncProperty(actions, fc.integer({ min: 1, max: 4 }), fc.nat(4), run));
});
