// Requests in flight: draining waits for exactly those, and can end them.

import { expect, test } from 'bun:test';
import { createInFlight } from '../../src/generate/in-flight.ts';

test('idle waits for the last one, and resolves at once when there is none', async () => {
  const inFlight = createInFlight();
  await inFlight.idle();
  inFlight.enter('req_1', { stop: () => {} });
  inFlight.enter('req_2', { stop: () => {} });
  let idle = false;
  const waiting = inFlight.idle().then(() => {
    idle = true;
  });
  inFlight.exit('req_1');
  await Promise.resolve();
  expect([idle, inFlight.count()]).toEqual([false, 1]);
  expect([inFlight.isLive('req_1'), inFlight.isLive('req_2')]).toEqual([false, true]);
  inFlight.exit('req_2');
  await waiting;
  expect([idle, inFlight.count()]).toEqual([true, 0]);
});

test('leaving twice takes off one', () => {
  const inFlight = createInFlight();
  const request = { stop: () => {} };
  inFlight.enter('req_1', request);
  inFlight.enter('req_2', request);
  inFlight.exit('req_1');
  inFlight.exit('req_1');
  expect(inFlight.count()).toBe(1);
});

test('ending all notifies each once, and those that leave during it do no harm', () => {
  const inFlight = createInFlight();
  const ended: string[] = [];
  inFlight.enter('req_1', { stop: () => void ended.push('other') });
  inFlight.enter('req_2', {
    stop() {
      ended.push('one');
      inFlight.exit('req_1');
    },
  });
  expect(inFlight.aborted()).toBe(false);
  inFlight.abortAll();
  expect(inFlight.aborted()).toBe(true);
  expect(ended.toSorted()).toEqual(['one', 'other']);
  expect(inFlight.count()).toBe(1);
});
