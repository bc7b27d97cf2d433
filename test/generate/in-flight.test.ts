// What is in flight: draining waits for exactly that, and can end it.

import { expect, test } from 'bun:test';
import { createInFlight } from '../../src/generate/in-flight.ts';

test('idle waits for the last one, and resolves at once when there is none', async () => {
  const inFlight = createInFlight();
  await inFlight.idle();
  const leaves = [inFlight.enter('req_1', () => {}), inFlight.enter('req_2', () => {})];
  let idle = false;
  const waiting = inFlight.idle().then(() => {
    idle = true;
  });
  leaves[0]?.();
  await Promise.resolve();
  expect([idle, inFlight.count()]).toEqual([false, 1]);
  expect([inFlight.isLive('req_1'), inFlight.isLive('req_2')]).toEqual([false, true]);
  leaves[1]?.();
  await waiting;
  expect([idle, inFlight.count()]).toEqual([true, 0]);
});

test('leaving twice takes off one, also with the same function', () => {
  const inFlight = createInFlight();
  const abort = () => {};
  const leave = inFlight.enter('req_1', abort);
  inFlight.enter('req_2', abort);
  leave();
  leave();
  expect(inFlight.count()).toBe(1);
});

test('ending all tells each once, and those that leave meanwhile do no harm', () => {
  const inFlight = createInFlight();
  const told: string[] = [];
  const leaveOther = inFlight.enter('req_1', () => told.push('other'));
  inFlight.enter('req_2', () => {
    told.push('one');
    leaveOther();
  });
  expect(inFlight.aborted()).toBe(false);
  inFlight.abortAll();
  expect(inFlight.aborted()).toBe(true);
  expect(told.toSorted()).toEqual(['one', 'other']);
  expect(inFlight.count()).toBe(1);
});
