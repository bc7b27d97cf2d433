// The upstream after its client leaves: stopped at once, or read to its end where it bills to the
// end or may report hidden thinking. Many disconnects are never cheaper.

import { describe, expect, test } from 'bun:test';
import type { ModelFeature, Upstream } from '../../src/core/model.ts';
import { DEFAULT_PROFILE } from '../../src/core/profile.ts';
import { createInFlight } from '../../src/generate/in-flight.ts';
import { Lifetime } from '../../src/generate/lifetime.ts';
import { chatUpstream } from '../support/model.ts';
import { candidate } from './fixtures.ts';

const STOPS: Upstream = chatUpstream('remote');
const BILLS_ON: Upstream = { ...chatUpstream('remote'), cancelStopsBilling: false };

function setUp(upstream: Upstream, inFlight = createInFlight(), features: ModelFeature[] = []) {
  const controller = new AbortController();
  const requestId = crypto.randomUUID();
  const lifetime = new Lifetime(inFlight, { requestId, signal: controller.signal });
  let aborts = 0;
  let freed = 0;
  const free = () => {
    freed += 1;
  };
  lifetime.onLeave({ accountId: 'acct_1', most: 2, free });
  const { model, ...rest } = candidate('a');
  lifetime.follow({
    candidate: {
      ...rest,
      model: { ...model, features: new Set(features) },
      upstream,
      profile: upstream.dialect === 'demo' ? rest.profile : upstream.profile,
    },
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

describe('a model whose thinking may be hidden', () => {
  const shows = (thinkingShown: 'all' | 'part'): Upstream => ({
    ...chatUpstream('remote'),
    profile: { ...DEFAULT_PROFILE.chat, thinkingShown },
  });

  test.each([
    ['is read to its report', ['reasoning'], 'part', true],
    ['that shows all of it is stopped', ['reasoning'], 'all', false],
    ['that does not reason is stopped', ['tools'], 'part', false],
  ] as const)('%s', (_, features, thinkingShown, isDraining) => {
    const { lifetime, leave, seen } = setUp(shows(thinkingShown), createInFlight(), [...features]);
    leave();
    expect([lifetime.isDraining(), seen()]).toEqual([isDraining, [isDraining ? 0 : 1, 1]]);
    lifetime.end();
  });
});

test('any number of them is read, and beyond the limit of their account with their slots', () => {
  const inFlight = createInFlight();
  const all = [BILLS_ON, BILLS_ON, BILLS_ON].map((upstream) => setUp(upstream, inFlight));
  for (const each of all) each.leave();
  expect(all.map((each) => [each.lifetime.isDraining(), ...each.seen()])).toEqual([
    [true, 0, 1],
    [true, 0, 1],
    [true, 0, 0],
  ]);
  all[0]?.lifetime.end();
  const next = setUp(BILLS_ON, inFlight);
  next.leave();
  expect([next.seen(), next.lifetime.isDraining()]).toEqual([[0, 1], true]);
  for (const each of [...all, next]) each.lifetime.end();
});

test('a server that stops ends it, regardless of listeners', () => {
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
  const lifetime = new Lifetime(inFlight, { requestId: 'req_1', signal: controller.signal });
  let freed = false;
  const free = () => {
    freed = true;
  };
  lifetime.onLeave({ accountId: 'acct_1', most: 2, free });
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
