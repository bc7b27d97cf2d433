// What happens to an upstream when its client leaves: stopped at once, or read to its end where it
// bills to the end, and then in bounds.

import { expect, test } from 'bun:test';
import type { Upstream } from '../../src/core/model.ts';
import { createInFlight } from '../../src/generate/in-flight.ts';
import { type Lifetime, startLifetime } from '../../src/generate/lifetime.ts';
import { chatUpstream } from '../support/model.ts';
import { waitUntil } from '../support/upstream.ts';
import { candidate } from './parts.ts';

const STOPS: Upstream = chatUpstream('remote');
const BILLS_ON: Upstream = { ...chatUpstream('remote'), cancelStopsBilling: false };

function setUp(upstream: Upstream, inFlight = createInFlight()) {
  const controller = new AbortController();
  const requestId = crypto.randomUUID();
  const lifetime = startLifetime(inFlight, { requestId, signal: controller.signal });
  let aborts = 0;
  let freed = 0;
  lifetime.onLeave(() => {
    freed += 1;
  });
  lifetime.follow({
    candidate: { ...candidate('a'), upstream },
    abort: () => {
      aborts += 1;
    },
  });
  return { lifetime, inFlight, leave: () => controller.abort(), seen: () => [aborts, freed] };
}

const flags = (lifetime: Lifetime) => [
  lifetime.isOver(),
  lifetime.hasLeft(),
  lifetime.isDraining(),
];

test('while its client is there nothing is stopped', () => {
  const { lifetime, seen } = setUp(STOPS);
  expect([flags(lifetime), seen()]).toEqual([
    [false, false, false],
    [0, 0],
  ]);
});

test('an upstream that stops its bill is stopped at once, and the slot is free, once', () => {
  const { lifetime, leave, seen } = setUp(STOPS);
  leave();
  lifetime.leave();
  expect([flags(lifetime), seen()]).toEqual([
    [true, true, false],
    [1, 1],
  ]);
});

test('one that bills to the end is read on, with the slot free and the request in flight', () => {
  const { lifetime, leave, seen, inFlight } = setUp(BILLS_ON);
  leave();
  expect([flags(lifetime), seen(), inFlight.count()]).toEqual([[true, true, true], [0, 1], 1]);
  lifetime.end();
  expect(inFlight.count()).toBe(0);
});

test('it is read for a bounded time', async () => {
  const { leave, seen, lifetime } = setUp(BILLS_ON, createInFlight({ drainMs: 5 }));
  leave();
  await waitUntil(() => seen()[0] === 1);
  lifetime.end();
});

test('no more than so many are read at a time, and the end of one makes room', () => {
  const inFlight = createInFlight({ drainsMax: 2 });
  const all = [BILLS_ON, BILLS_ON, BILLS_ON].map((upstream) => setUp(upstream, inFlight));
  for (const each of all) each.leave();
  expect(all.map((each) => each.seen()[0])).toEqual([0, 0, 1]);
  all[0]?.lifetime.end();
  const next = setUp(BILLS_ON, inFlight);
  next.leave();
  expect([next.seen()[0], next.lifetime.isDraining()]).toEqual([0, true]);
  for (const each of [...all, next]) each.lifetime.end();
});

test('a server that stops ends it, whoever listens', () => {
  const listening = setUp(BILLS_ON);
  listening.inFlight.abortAll();
  expect([flags(listening.lifetime), listening.seen()]).toEqual([
    [true, false, false],
    [1, 0],
  ]);
  const left = setUp(BILLS_ON);
  left.leave();
  left.inFlight.abortAll();
  expect(left.seen()).toEqual([1, 1]);
  const late = setUp(BILLS_ON, left.inFlight);
  late.leave();
  expect(late.lifetime.isDraining()).toBe(false);
  left.lifetime.end();
});

test('who has left before anything was asked, or between two attempts, has nothing asked for', () => {
  const controller = new AbortController();
  controller.abort();
  const inFlight = createInFlight();
  const lifetime = startLifetime(inFlight, { requestId: 'req_1', signal: controller.signal });
  let freed = false;
  lifetime.onLeave(() => {
    freed = true;
  });
  expect([flags(lifetime), freed]).toEqual([[true, true, false], true]);
  let aborted = false;
  lifetime.follow({
    candidate: { ...candidate('a'), upstream: BILLS_ON },
    abort: () => {
      aborted = true;
    },
  });
  expect(aborted).toBe(true);
});
