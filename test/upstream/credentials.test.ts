// The credentials of an upstream: used in rotation, and skipped while in cooldown.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { UpstreamFailure } from '../../src/core/failure.ts';
import type { Upstream } from '../../src/core/model.ts';
import {
  type CredentialLease,
  type Credentials,
  createCredentials,
} from '../../src/upstream/credentials.ts';
import { demoUpstream } from '../support/model.ts';

/** An upstream with these keys. */
function upstreamOf(...keys: readonly string[]): Upstream {
  const [first = '', ...rest] = keys.map((apiKey, index) => ({ id: String(index + 1), apiKey }));
  if (first === '') throw new Error('no key');
  return { ...demoUpstream('a'), credentials: [first, ...rest] };
}

const ADA = { account: 'ada', model: 'm' };
const BOB = { account: 'bob', model: 'm' };
const REFUSED: UpstreamFailure = { class: 'credential', detail: 'no', status: 401 };

function pick(
  credentials: Credentials,
  upstream: Upstream,
  nowMs: number,
  { avoid, user = ADA }: { readonly avoid?: string; readonly user?: typeof ADA } = {},
): CredentialLease {
  const lease = credentials.pick(upstream, user, nowMs, avoid);
  if (lease === undefined) throw new Error('none is left');
  return lease;
}

function turns(
  credentials: Credentials,
  upstream: Upstream,
  nowMs: number,
  count: number,
  user = ADA,
): string {
  const ids = Array.from({ length: count }, () => {
    return credentials.pick(upstream, user, nowMs)?.credential.id;
  });
  return ids.map((id) => id ?? '-').join('');
}

/** A request is refused, and so is the probe that follows. */
function refuse(credentials: Credentials, upstream: Upstream, nowMs: number): void {
  const lease = pick(credentials, upstream, nowMs);
  const { credential } = lease;
  credentials.refused(lease, 401, nowMs);
  if (!credentials.takeProbe(credential)) throw new Error('no probe is wanted');
  credentials.judged(upstream, { credential, model: 'm' }, REFUSED, nowMs);
}

const KEYS = upstreamOf('a', 'b', 'c');
const ONE = upstreamOf('a');

test('each has its turn', () => {
  expect(turns(createCredentials(), KEYS, 0, 7)).toBe('1231231');
});

test('one that is avoided is passed over, and no other is found for the only one', () => {
  const credentials = createCredentials();
  expect(pick(credentials, KEYS, 0, { avoid: '1' }).credential.id).toBe('2');
  expect(credentials.pick(ONE, ADA, 0, '1')).toBeUndefined();
});

test('one that is refused leaves its turn to the others, for the account that was refused', () => {
  const credentials = createCredentials();
  credentials.refused(pick(credentials, KEYS, 0), 402, 0);
  expect([turns(credentials, KEYS, 1, 4), credentials.waitMs(KEYS, ADA, 1)]).toEqual(['2323', 0]);
  expect(turns(credentials, KEYS, 1, 3, BOB)).toBe('123');
});

test('one that a probe finds refused leaves its turn to the others, for all accounts', () => {
  const credentials = createCredentials();
  refuse(credentials, KEYS, 0);
  expect([turns(credentials, KEYS, 1, 4, BOB), turns(credentials, KEYS, 1, 4)]).toEqual([
    '2323',
    '2323',
  ]);
});

test('without a cooldown one is used after every failure', () => {
  const credentials = createCredentials();
  const always = { ...ONE, coolDownMs: 0 };
  refuse(credentials, always, 0);
  credentials.refused(pick(credentials, always, 0), 401, 0);
  expect([turns(credentials, always, 0, 3), credentials.waitMs(always, ADA, 0)]).toEqual([
    '111',
    0,
  ]);
});

test('a key that is exchanged starts healthy, and one that moves keeps its state', () => {
  const credentials = createCredentials();
  refuse(credentials, KEYS, 0);
  refuse(credentials, KEYS, 0);
  const changed = upstreamOf('b', 'x', 'c');
  credentials.keep(changed);
  const states = credentials.states(changed, 1, (atMs) => 1_000_000 + atMs);
  expect(states).toEqual([
    { id: '1', state: 'disabled', status: 401, untilMs: 1_030_000 },
    { id: '2', state: 'ok' },
    { id: '3', state: 'ok' },
  ]);
  // The key that is gone has been forgotten, too.
  expect(credentials.states(ONE, 1, (atMs) => atMs)).toEqual([{ id: '1', state: 'ok' }]);
});

test('a cooldown that is over has no time until which it lasts', () => {
  const credentials = createCredentials();
  refuse(credentials, ONE, 0);
  expect(credentials.states(ONE, 30_000, (atMs) => atMs)).toEqual([
    { id: '1', state: 'disabled', status: 401 },
  ]);
});

test('for any events: one probe at a time, and no cooldown lasts for ever', () => {
  const actions = fc.array(
    fc.record({
      afterMs: fc.oneof(fc.constant(0), fc.nat(40_000)),
      kind: fc.constantFrom('pick', 'pick', 'accepted', 'refused', 'limited', 'refuses', 'well'),
      which: fc.nat(),
      account: fc.constantFrom('ada', 'bob', 'cy'),
    }),
    { maxLength: 100 },
  );
  fc.assert(
    fc.property(actions, (all) => {
      const credentials = createCredentials();
      const open: CredentialLease[] = [];
      const probed = new Set<string>();
      let nowMs = 0;
      const look = (): void => {
        for (const credential of KEYS.credentials) {
          if (!credentials.takeProbe(credential)) continue;
          expect(probed.has(credential.id)).toBe(false);
          probed.add(credential.id);
        }
      };
      for (const { afterMs, kind, which, account } of all) {
        nowMs += afterMs;
        if (kind === 'refuses' || kind === 'well') {
          const id = [...probed][which % Math.max(probed.size, 1)];
          const credential = KEYS.credentials.find((each) => each.id === id);
          if (credential === undefined) continue;
          probed.delete(credential.id);
          const outcome = kind === 'well' ? 'finished' : REFUSED;
          credentials.judged(KEYS, { credential, model: 'm' }, outcome, nowMs);
          continue;
        }
        if (kind === 'pick') {
          const user = { account, model: 'm' };
          const waitMs = credentials.waitMs(KEYS, user, nowMs);
          const lease = credentials.pick(KEYS, user, nowMs);
          expect(lease === undefined).toBe(waitMs > 0);
          expect(waitMs).toBeLessThanOrEqual(600_000);
          if (lease !== undefined) open.push(lease);
        } else {
          const [lease] = open.splice(which % Math.max(open.length, 1), 1);
          if (lease === undefined) continue;
          if (kind === 'accepted') credentials.accepted(lease, nowMs);
          else if (kind === 'refused') credentials.refused(lease, 401, nowMs);
          else credentials.limited(lease, 1_000, nowMs);
        }
        look();
      }
      for (const credential of KEYS.credentials) {
        if (!probed.has(credential.id)) continue;
        credentials.judged(KEYS, { credential, model: 'm' }, REFUSED, nowMs);
      }
      const ids = turns(credentials, KEYS, nowMs + 600_000, 3);
      expect([...ids].toSorted().join('')).toBe('123');
    }),
  );
});
