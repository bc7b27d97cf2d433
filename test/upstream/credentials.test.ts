// The credentials of an upstream: used in turn, and left alone once they are refused, by key.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Upstream } from '../../src/core/model.ts';
import { type Credentials, createCredentials, type Lease } from '../../src/upstream/credentials.ts';
import { demoUpstream } from '../support/model.ts';

/** An upstream with these keys. */
function upstreamOf(...keys: readonly string[]): Upstream {
  const [first = '', ...rest] = keys.map((apiKey, index) => ({ id: String(index + 1), apiKey }));
  if (first === '') throw new Error('no key');
  return { ...demoUpstream('a'), credentials: [first, ...rest] };
}

function pick(credentials: Credentials, upstream: Upstream, nowMs: number, avoid?: string): Lease {
  const lease = credentials.pick(upstream, nowMs, { avoid });
  if (lease === undefined) throw new Error('none is left');
  return lease;
}

function turns(credentials: Credentials, upstream: Upstream, nowMs: number, count: number): string {
  const ids = Array.from({ length: count }, () => credentials.pick(upstream, nowMs)?.credential.id);
  return ids.map((id) => id ?? '-').join('');
}

const KEYS = upstreamOf('a', 'b', 'c');
const ONE = upstreamOf('a');

test('each has its turn', () => {
  expect(turns(createCredentials(), KEYS, 0, 7)).toBe('1231231');
});

test('one that is avoided is passed over, and no other is found for the only one', () => {
  const credentials = createCredentials();
  expect(pick(credentials, KEYS, 0, '1').credential.id).toBe('2');
  expect(credentials.pick(ONE, 0, { avoid: '1' })).toBeUndefined();
});

describe('a refused one', () => {
  test('rests for 30 seconds, twice as long each time, up to ten minutes', () => {
    const credentials = createCredentials();
    const waits: number[] = [];
    let nowMs = 0;
    for (let turn = 0; turn < 7; turn += 1) {
      credentials.refused(pick(credentials, ONE, nowMs), 401, nowMs);
      const waitMs = credentials.waitMs(ONE, nowMs);
      waits.push(waitMs / 1_000);
      expect(credentials.pick(ONE, nowMs + waitMs - 1)).toBeUndefined();
      nowMs += waitMs;
    }
    expect(waits).toEqual([30, 60, 120, 240, 480, 600, 600]);
  });

  test('with 403 rests for 30 seconds each time', () => {
    const credentials = createCredentials();
    for (const nowMs of [0, 30_000, 60_000]) {
      credentials.refused(pick(credentials, ONE, nowMs), 403, nowMs);
      expect(credentials.waitMs(ONE, nowMs)).toBe(30_000);
    }
  });

  test('leaves its turn to the others', () => {
    const credentials = createCredentials();
    credentials.refused(pick(credentials, KEYS, 0), 402, 0);
    expect([turns(credentials, KEYS, 1, 4), credentials.waitMs(KEYS, 1)]).toEqual(['2323', 0]);
  });

  test('is tried by one request when its rest is over, and by the next if that came to nothing', () => {
    const credentials = createCredentials();
    credentials.refused(pick(credentials, ONE, 0), 401, 0);
    const trial = pick(credentials, ONE, 30_000);
    expect([credentials.pick(ONE, 30_000), credentials.waitMs(ONE, 30_000)]).toEqual([
      undefined,
      1_000,
    ]);
    credentials.released(trial);
    expect(credentials.waitMs(ONE, 30_000)).toBe(0);
    credentials.accepted(pick(credentials, ONE, 30_000));
    expect(turns(credentials, ONE, 30_000, 3)).toBe('111');
    credentials.refused(pick(credentials, ONE, 30_000), 401, 30_000);
    expect(credentials.waitMs(ONE, 30_000)).toBe(30_000);
  });

  test('is refused once, however many requests were refused with it', () => {
    const credentials = createCredentials();
    const leases = Array.from({ length: 50 }, () => pick(credentials, ONE, 0));
    for (const lease of leases) credentials.refused(lease, 401, 10);
    expect(credentials.waitMs(ONE, 10)).toBe(30_000);
  });

  test('works again as soon as anybody is answered with it', () => {
    const credentials = createCredentials();
    const [first, second] = [pick(credentials, ONE, 0), pick(credentials, ONE, 0)];
    credentials.refused(first, 403, 0);
    credentials.accepted(second);
    expect(turns(credentials, ONE, 0, 1)).toBe('1');
  });
});

test('one with a rate limit rests as long as it was told, at most a minute', () => {
  const credentials = createCredentials();
  credentials.limited(pick(credentials, ONE, 0), 7_000, 0);
  expect(credentials.waitMs(ONE, 0)).toBe(7_000);
  credentials.limited(pick(credentials, ONE, 7_000), 9_000_000, 7_000);
  expect(credentials.waitMs(ONE, 7_000)).toBe(60_000);
});

test('a rate limit is not over because an earlier question is answered', () => {
  const credentials = createCredentials();
  const [first, second] = [pick(credentials, ONE, 0), pick(credentials, ONE, 0)];
  credentials.limited(second, 7_000, 0);
  credentials.accepted(first);
  expect(credentials.waitMs(ONE, 0)).toBe(7_000);
  credentials.accepted(pick(credentials, ONE, 7_000));
  expect(turns(credentials, ONE, 7_000, 2)).toBe('11');
});

test('a key that is exchanged starts anew, and one that moves keeps its state', () => {
  const credentials = createCredentials();
  credentials.refused(pick(credentials, KEYS, 0), 401, 0);
  credentials.refused(pick(credentials, KEYS, 0), 402, 0);
  const changed = upstreamOf('b', 'x', 'c');
  credentials.keep(changed);
  const states = credentials.states(changed, 1, (atMs) => 1_000_000 + atMs);
  expect(states).toEqual([
    { id: '1', state: 'disabled', status: 402, untilMs: 1_030_000 },
    { id: '2', state: 'ok' },
    { id: '3', state: 'ok' },
  ]);
  // The key that is gone has been forgotten, too.
  expect(credentials.states(ONE, 1, (atMs) => atMs)).toEqual([{ id: '1', state: 'ok' }]);
});

test('a rest that is over has no time until which it lasts', () => {
  const credentials = createCredentials();
  credentials.refused(pick(credentials, ONE, 0), 401, 0);
  expect(credentials.states(ONE, 30_000, (atMs) => atMs)).toEqual([
    { id: '1', state: 'disabled', status: 401 },
  ]);
});

test('whatever happens: one try at a time of what was refused, and nothing rests for ever', () => {
  const actions = fc.array(
    fc.record({
      afterMs: fc.oneof(fc.constant(0), fc.nat(40_000)),
      kind: fc.constantFrom('pick', 'pick', 'accepted', 'released', 'refused', 'limited'),
      which: fc.nat(),
    }),
    { maxLength: 100 },
  );
  fc.assert(
    fc.property(actions, (all) => {
      const credentials = createCredentials();
      const open: Lease[] = [];
      let nowMs = 0;
      for (const { afterMs, kind, which } of all) {
        nowMs += afterMs;
        if (kind === 'pick') {
          const waitMs = credentials.waitMs(KEYS, nowMs);
          const lease = credentials.pick(KEYS, nowMs);
          expect(lease === undefined).toBe(waitMs > 0);
          if (lease === undefined) continue;
          open.push(lease);
          const trials = open.filter(
            ({ credential, trouble }) =>
              trouble !== undefined &&
              credential.id === lease.credential.id &&
              trouble === lease.trouble,
          );
          expect(trials.length).toBeLessThanOrEqual(1);
          continue;
        }
        const [lease] = open.splice(which % Math.max(open.length, 1), 1);
        if (lease === undefined) continue;
        if (kind === 'accepted') credentials.accepted(lease);
        else if (kind === 'released') credentials.released(lease);
        else if (kind === 'refused') credentials.refused(lease, 401, nowMs);
        else credentials.limited(lease, 1_000, nowMs);
      }
      for (const lease of open) credentials.released(lease);
      const ids = turns(credentials, KEYS, nowMs + 600_000, 3);
      expect([...ids].toSorted().join('')).toBe('123');
    }),
  );
});
