// The standing of a credential: what a refusal blocks, what a probe decides, and how often a probe
// is sent.

import { describe, expect, test } from 'bun:test';
import type { FailureClass, UpstreamFailure } from '../../src/core/failure.ts';
import {
  type CredentialStanding,
  type CredentialUser,
  createStanding,
  type Judgement,
  type Use,
} from '../../src/core/standing.ts';

const ADA = { account: 'ada', model: 'm' };
const BOB = { account: 'bob', model: 'm' };
const CY = { account: 'cy', model: 'm' };

function use(standing: CredentialStanding, user: CredentialUser, nowMs: number): Use {
  const used = standing.use(user, nowMs, false);
  if (used === undefined) throw new Error('it may not be used');
  return used;
}

const failure = (kind: FailureClass, more: Partial<UpstreamFailure> = {}): UpstreamFailure => ({
  class: kind,
  detail: kind,
  ...more,
});
const REFUSED = failure('credential', { status: 401 });

type Outcome = 'finished' | UpstreamFailure;

function judge(
  standing: CredentialStanding,
  outcome: Outcome,
  nowMs: number,
  model = 'm',
): Judgement {
  if (!standing.takeProbe()) throw new Error('no probe is wanted');
  return standing.judged({ outcome, model, nowMs, limitMs: 5_000 });
}

/** A request of this user is refused. */
function refuse(
  standing: CredentialStanding,
  user: CredentialUser,
  nowMs: number,
  status = 401,
): void {
  standing.refused(use(standing, user, nowMs), status, nowMs);
}

const waits = (
  standing: CredentialStanding,
  nowMs: number,
  ...users: readonly CredentialUser[]
): number[] => users.map((user) => standing.waitMs(user, nowMs));

describe('a refusal', () => {
  test('binds the account whose request was refused, and wants one probe', () => {
    const standing = createStanding();
    const uses = Array.from({ length: 50 }, () => use(standing, ADA, 0));
    for (const each of uses) standing.refused(each, 401, 10);
    expect(waits(standing, 10, ADA, BOB)).toEqual([30_000, 0]);
    expect([standing.takeProbe(), standing.takeProbe()]).toEqual([true, false]);
  });

  test('binds all accounts once a probe is refused, for 30 s, doubling to ten minutes', () => {
    const standing = createStanding();
    refuse(standing, ADA, 0);
    const told = [judge(standing, REFUSED, 0)];
    const cooldowns: number[] = [];
    let nowMs = 0;
    for (let turn = 0; turn < 7; turn += 1) {
      const [ofAda = 0, ofBob] = waits(standing, nowMs, ADA, BOB);
      expect(ofBob).toBe(ofAda);
      cooldowns.push(ofAda / 1_000);
      expect(standing.use(BOB, nowMs + ofAda - 1, false)).toBeUndefined();
      nowMs += ofAda;
      use(standing, BOB, nowMs);
      told.push(judge(standing, REFUSED, nowMs));
    }
    expect(cooldowns).toEqual([30, 60, 120, 240, 480, 600, 600]);
    expect(told).toEqual(['refused', ...Array<Judgement>(7).fill('nothing')]);
  });

  test('is over for its account once a probe is accepted', () => {
    const standing = createStanding();
    refuse(standing, ADA, 0);
    expect(judge(standing, 'finished', 100)).toBe('nothing');
    expect(waits(standing, 100, ADA, BOB)).toEqual([0, 0]);
  });

  test('is over for all once another request is answered', () => {
    const standing = createStanding();
    const bob = use(standing, BOB, 0);
    refuse(standing, ADA, 0);
    standing.accepted(bob, 10);
    expect(waits(standing, 10, ADA, BOB)).toEqual([0, 0]);
  });

  test('of two accounts is enough where a probe says nothing of the credential', () => {
    const alone = createStanding();
    refuse(alone, ADA, 0);
    expect(judge(alone, failure('timeout'), 0)).toBe('nothing');
    expect(waits(alone, 0, ADA, BOB)).toEqual([30_000, 0]);
    const standing = createStanding();
    refuse(standing, ADA, 0);
    refuse(standing, BOB, 0);
    expect(judge(standing, failure('server_error', { status: 500 }), 0)).toBe('refused');
    expect(waits(standing, 0, CY)).toEqual([30_000]);
  });

  test('of two accounts that a probe is not met with is reported, once', () => {
    const standing = createStanding();
    const told = [ADA, BOB, CY].map((user, index) => {
      const nowMs = index * 20_000;
      refuse(standing, user, nowMs);
      return judge(standing, 'finished', nowMs);
    });
    expect(told).toEqual(['nothing', 'some', 'nothing']);
  });

  test('with 403 binds one model, until another one is refused, too', () => {
    const standing = createStanding();
    const denied = failure('credential', { status: 403 });
    refuse(standing, ADA, 0, 403);
    judge(standing, denied, 0);
    const other = { account: 'bob', model: 'other' };
    expect(waits(standing, 0, BOB, other)).toEqual([30_000, 0]);
    standing.accepted(use(standing, other, 0), 0);
    expect(waits(standing, 0, BOB)).toEqual([30_000]);
    refuse(standing, other, 20_000, 403);
    judge(standing, denied, 20_000, 'other');
    expect(waits(standing, 20_000, CY, other)).toEqual([60_000, 60_000]);
  });
});

describe('probes', () => {
  test('of one account are made once a minute, of all accounts every ten seconds', () => {
    const standing = createStanding();
    const made: string[] = [];
    for (let nowMs = 0; nowMs < 120_000; nowMs += 1_000) {
      for (const user of nowMs < 60_000 ? [ADA] : [ADA, BOB, CY]) {
        refuse(standing, user, nowMs);
        if (!standing.takeProbe()) continue;
        made.push(`${user.account} ${nowMs / 1_000}`);
        standing.judged({ outcome: 'finished', model: 'm', nowMs, limitMs: undefined });
        // The one refusal that a probe has just excused binds no account.
        refuse(standing, user, nowMs);
        expect(waits(standing, nowMs, ADA, BOB)).toEqual([0, 0]);
      }
    }
    expect(made).toEqual(['ada 0', 'ada 60', 'bob 70', 'cy 80']);
  });

  test('try a cooldown that is over, with one request beside them', () => {
    const standing = createStanding();
    refuse(standing, ADA, 0);
    judge(standing, REFUSED, 0);
    const trial = use(standing, BOB, 30_000);
    expect([standing.use(CY, 30_000, false), ...waits(standing, 30_000, CY)]).toEqual([
      undefined,
      1_000,
    ]);
    // What becomes of the request decides nothing: its caller may have seen to that.
    standing.refused(trial, 401, 30_000);
    expect(judge(standing, 'finished', 31_000)).toBe('nothing');
    expect(waits(standing, 31_000, ADA, BOB, CY)).toEqual([0, 0, 0]);
  });

  test('that are not answered keep the cooldown for ten seconds more', () => {
    const standing = createStanding();
    refuse(standing, ADA, 0);
    judge(standing, REFUSED, 0);
    use(standing, BOB, 30_000);
    judge(standing, failure('unreachable'), 30_000);
    expect(waits(standing, 30_000, BOB)).toEqual([10_000]);
  });
});

describe('a rate limit', () => {
  const limited = (
    standing: CredentialStanding,
    user: CredentialUser,
    pauseMs: number,
    nowMs: number,
  ): void => standing.limited(use(standing, user, nowMs), pauseMs, nowMs);

  test('binds its account for as long as the upstream asks, at most a minute', () => {
    const standing = createStanding();
    limited(standing, ADA, 7_000, 0);
    limited(standing, BOB, 3_600_000, 0);
    expect(waits(standing, 0, ADA, BOB, CY)).toEqual([7_000, 60_000, 0]);
  });

  test('of two accounts wants a probe, and binds all where that meets it', () => {
    const standing = createStanding();
    limited(standing, ADA, 60_000, 0);
    expect(standing.takeProbe()).toBe(false);
    limited(standing, BOB, 60_000, 0);
    judge(standing, failure('rate_limited', { status: 429, retryAfterMs: 20_000 }), 0);
    expect(waits(standing, 0, CY)).toEqual([20_000]);
    // It is over by itself.
    use(standing, CY, 20_000);
    expect(standing.takeProbe()).toBe(false);
  });

  test('of two accounts binds them alone where a probe is answered', () => {
    const standing = createStanding();
    limited(standing, ADA, 60_000, 0);
    limited(standing, BOB, 60_000, 0);
    judge(standing, 'finished', 0);
    expect(waits(standing, 0, ADA, BOB, CY)).toEqual([60_000, 60_000, 0]);
  });

  test('is not over because an earlier question is answered', () => {
    const standing = createStanding();
    const earlier = use(standing, ADA, 0);
    limited(standing, ADA, 7_000, 0);
    standing.accepted(earlier, 0);
    expect(waits(standing, 0, ADA)).toEqual([7_000]);
    standing.accepted(use(standing, ADA, 7_000), 7_000);
    expect(standing.cooldown(7_000)).toBeUndefined();
  });
});

test('operators see the cooldown of an account while no other one is served', () => {
  const standing = createStanding();
  refuse(standing, ADA, 0);
  expect(standing.cooldown(0)).toMatchObject({ status: 401, untilMs: 30_000 });
  standing.limited(use(standing, BOB, 5_000), 20_000, 5_000);
  standing.accepted(use(standing, CY, 6_000), 6_000);
  expect(standing.cooldown(6_000)).toBeUndefined();
  standing.limited(use(standing, BOB, 25_000), 20_000, 25_000);
  expect(standing.cooldown(25_000)).toMatchObject({ status: 429, untilMs: 45_000 });
});
