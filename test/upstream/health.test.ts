// The health of upstreams as the router uses it: what acquires a permit, what its end changes,
// which part refuses, and what operators see.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Alert } from '../../src/core/alert.ts';
import type { FailureClass, UpstreamFailure } from '../../src/core/failure.ts';
import type { Upstream } from '../../src/core/model.ts';
import type { Candidate } from '../../src/core/route.ts';
import { type AccountHealth, type Asking, createHealth } from '../../src/upstream/health.ts';
import type { Permit } from '../../src/upstream/permit.ts';
import { catalogOf } from '../generate/fixtures.ts';
import { at, keys } from '../generate/route-rig.ts';
import { createFakeTime } from '../support/fake-time.ts';
import { listedProbes } from '../support/probe.ts';

const FIRST = { kind: 'first' } as const;
const WALL = 1_700_000_000_000;

function rig(...candidates: readonly Candidate[]) {
  const time = createFakeTime();
  const alerts: Alert[] = [];
  let catalog = catalogOf(candidates);
  const probes = listedProbes();
  const all = createHealth({
    catalog: () => catalog,
    clock: () => WALL + time.now(),
    monotonic: time.now,
    startTimer: time.startTimer,
    probe: probes.probe,
    alert: (alert) => void alerts.push(alert),
  });
  /** Of one account, where a test needs no other. */
  const health = Object.assign(all.of('acct_a'), all);
  const reload = (...changed: readonly Candidate[]): void => {
    catalog = catalogOf(changed);
  };
  return { time, alerts, health, probes, reload };
}

function permit(health: AccountHealth, candidate: Candidate, asking: Asking = FIRST): Permit {
  const entry = health.enter(candidate, asking);
  if (entry.kind !== 'permit') throw new Error(`no permit: ${JSON.stringify(entry)}`);
  return entry;
}

function failed(kind: FailureClass, more: Partial<UpstreamFailure> = {}): UpstreamFailure {
  return { class: kind, detail: kind, ...more };
}

function refusalOf(health: AccountHealth, candidate: Candidate): string {
  const entry = health.enter(candidate, FIRST);
  return entry.kind === 'refusal' ? entry.failure.detail : entry.kind;
}

const A = at('a');
const BREAKER_OPEN = 'the upstream was not called: its circuit breaker for this model is open';

describe('what a failure counts against', () => {
  test.each<FailureClass>([
    'unreachable',
    'timeout',
    'rate_limited',
    'overloaded',
    'server_error',
    'malformed',
    'cut',
  ])('%s: the upstream, for this model alone', async (kind) => {
    const other = { ...A, model: at('other').model };
    const { health, alerts, probes } = rig(A, other);
    for (let turn = 0; turn < 5; turn += 1) permit(health, A).end(failed(kind));
    expect(refusalOf(health, A)).toBe(BREAKER_OPEN);
    await probes.answer(failed(kind));
    expect(refusalOf(health, other)).toBe('permit');
    expect(alerts).toEqual([{ kind: 'breaker_opened', upstream: 'a', model: 'a' }]);
  });

  test.each<FailureClass>([
    'bad_request',
    'context_length',
    'unsupported',
    'mismatch',
    'gateway',
    'no_capacity',
  ])('%s: none', (kind) => {
    const { health } = rig(A);
    for (let turn = 0; turn < 50; turn += 1) permit(health, A).end(failed(kind));
    expect(health.waitMs(A)).toBe(0);
  });

  test('credential: that one, and the upstream where it has no other', () => {
    const two = at('a', { credentials: keys('1', '2') });
    const { health } = rig(two);
    permit(health, two).end(failed('credential', { status: 401 }));
    expect([permit(health, two).credential.id, permit(health, two).credential.id]).toEqual([
      '2',
      '2',
    ]);
    permit(health, two).end(failed('credential', { status: 401 }));
    expect([refusalOf(health, two), health.waitMs(two)]).toEqual([
      'the upstream was not called: all of its credentials are refused or in cooldown',
      30_000,
    ]);
  });

  test('a rate limit: the credential, where there are several', () => {
    const two = at('a', { credentials: keys('1', '2') });
    const { health } = rig(two);
    permit(health, two).end(failed('rate_limited', { retryAfterMs: 9_000 }));
    expect([permit(health, two).credential.id, permit(health, two).credential.id]).toEqual([
      '2',
      '2',
    ]);
    permit(health, two).end(failed('rate_limited'));
    // The second rests for the cool-down: no duration was given.
    expect(health.waitMs(two)).toBe(1_000);
  });

  test('nothing at an upstream without a cool-down: it is called after every failure', () => {
    const always = at('a', { coolDownMs: 0 });
    const { health } = rig(always);
    for (let turn = 0; turn < 30; turn += 1) {
      permit(health, always).end(failed('server_error', { retryAfterMs: 60_000 }));
      permit(health, always).end(failed('credential', { status: 401 }));
    }
    expect(refusalOf(health, always)).toBe('permit');
  });

  test('a client that leaves: nothing, also where it leaves a probe', () => {
    const { health, time } = rig(A);
    for (let turn = 0; turn < 50; turn += 1) permit(health, A).end('given_up');
    permit(health, A).end(failed('overloaded', { retryAfterMs: 3_000 }));
    time.advance(3_000);
    permit(health, A).end('given_up');
    const probe = permit(health, A);
    expect(refusalOf(health, A)).toBe(BREAKER_OPEN);
    probe.end('finished');
    expect(refusalOf(health, A)).toBe('permit');
  });

  test('a stream that breaks off: the upstream, although it had answered', () => {
    const { health } = rig(A);
    for (let turn = 0; turn < 5; turn += 1) {
      const begun = permit(health, A);
      begun.answered();
      begun.end(failed('cut'));
    }
    expect(refusalOf(health, A)).toBe(BREAKER_OPEN);
  });

  test('a kept connection that was closed: nothing, and the outcome of a new one counts', () => {
    const { health } = rig(A);
    const stale = failed('unreachable', { onKeptConnection: true });
    for (let turn = 0; turn < 50; turn += 1) permit(health, A).end(stale);
    expect(health.waitMs(A)).toBe(0);
    for (let turn = 0; turn < 5; turn += 1) {
      permit(health, A).end(stale);
      permit(health, A, { kind: 'reconnect' }).end(failed('unreachable'));
    }
    expect(health.waitMs(A)).toBe(1_000);
  });

  test('a request that is repeated: once', () => {
    const { health } = rig(A);
    for (let turn = 0; turn < 4; turn += 1) permit(health, A).end(failed('cut'));
    const again = health.enter(A, { kind: 'repeat' });
    if (again.kind === 'permit') again.end(failed('cut'));
    expect(refusalOf(health, A)).toBe('permit');
  });
});

test('a probe that has begun to answer admits every request, for as long as it runs', () => {
  const { health, time } = rig(A);
  permit(health, A).end(failed('overloaded', { retryAfterMs: 3_000 }));
  time.advance(3_000);
  const probe = permit(health, A);
  probe.answered();
  expect(refusalOf(health, A)).toBe('permit');
});

test('the place is given back once, and waiters get it in their order', async () => {
  const narrow = at('a', { concurrency: { maxInFlight: 1, queueLength: 2, queueMs: 50 } });
  const { health, time } = rig(narrow);
  const holder = permit(health, narrow);
  const [first, second] = [health.enter(narrow, FIRST), health.enter(narrow, FIRST)];
  expect(refusalOf(health, narrow)).toBe('the upstream was not called: its queue is full');
  if (first.kind !== 'queued' || second.kind !== 'queued') throw new Error('not queued');
  holder.end('finished');
  holder.end('finished');
  const entered = await first.entry;
  expect([entered.kind, health.states()[0]?.inFlight, health.states()[0]?.queued]).toEqual([
    'permit',
    1,
    1,
  ]);
  time.advance(50);
  expect(await second.entry).toMatchObject({ kind: 'refusal', failure: { class: 'no_capacity' } });
  if (entered.kind === 'permit') entered.end('finished');
  expect(health.states()[0]).toMatchObject({ inFlight: 0, queued: 0 });
});

test('who waited while the upstream began to fail is not let in, and takes no place', async () => {
  const narrow = at('a', { concurrency: { maxInFlight: 1, queueLength: 1, queueMs: 50 } });
  const { health } = rig(narrow);
  const holder = permit(health, narrow);
  const waiting = health.enter(narrow, FIRST);
  if (waiting.kind !== 'queued') throw new Error('not queued');
  holder.end(failed('overloaded', { retryAfterMs: 9_000 }));
  // The place is free before the breaker knows; the waiter is asked for after both.
  expect(await waiting.entry).toMatchObject({ kind: 'refusal', failure: { detail: BREAKER_OPEN } });
  expect(health.states()[0]?.inFlight).toBe(0);
});

test('what operators see', async () => {
  const two = at('a', { credentials: keys('1', '2') });
  const busy = at('b');
  const { health, time, probes } = rig(busy, two, at('idle'));
  permit(health, busy).end(failed('overloaded', { retryAfterMs: 7_000 }));
  await probes.answer(failed('overloaded', { retryAfterMs: 7_000 }));
  permit(health, two).end(failed('credential', { status: 402 }));
  permit(health, two);
  time.advance(1_000);
  const ok = { id: '1', state: 'ok' } as const;
  expect(health.states()).toEqual([
    {
      upstream: 'b',
      inFlight: 0,
      queued: 0,
      credentials: [ok],
      models: [{ model: 'b', breaker: 'open', untilMs: WALL + 7_000 }],
    },
    {
      upstream: 'a',
      inFlight: 1,
      queued: 0,
      credentials: [
        { id: '1', state: 'disabled', status: 402, untilMs: WALL + 30_000 },
        { id: '2', state: 'ok' },
      ],
      models: [{ model: 'a', breaker: 'closed' }],
    },
    {
      upstream: 'idle',
      inFlight: 0,
      queued: 0,
      credentials: [ok],
      models: [{ model: 'idle', breaker: 'closed' }],
    },
  ]);
  time.advance(6_000);
  expect(health.states()[0]?.models).toEqual([{ model: 'b', breaker: 'half_open' }]);
});

describe('a new catalog', () => {
  const refused = failed('credential', { status: 401 });

  test('keeps what is known of keys and models that stay', () => {
    const { health, reload } = rig(A);
    permit(health, A).end(refused);
    reload({ ...A, upstream: { ...A.upstream } as Upstream });
    expect(health.waitMs(A)).toBe(30_000);
  });

  test('knows nothing of a place that was exchanged, and of what still goes on at the old one', () => {
    const wrong = at('a', { dialect: 'chat', baseUrl: 'http://wrong' });
    const { health, reload } = rig(wrong);
    const underWay = permit(health, wrong);
    for (let turn = 0; turn < 5; turn += 1) permit(health, wrong).end(failed('unreachable'));
    const right = at('a', { dialect: 'chat', baseUrl: 'http://right' });
    reload(right);
    expect(refusalOf(health, right)).toBe('permit');
    underWay.end(refused);
    expect([refusalOf(health, right), health.waitMs(right)]).toEqual(['permit', 0]);
  });

  test('knows nothing of a key that was exchanged, and of what was gone in between', () => {
    const old = at('a', { credentials: keys('old') });
    const exchanged = at('a', { credentials: keys('new') });
    const { health, reload } = rig(old);
    permit(health, old).end(refused);
    reload(exchanged);
    expect(refusalOf(health, exchanged)).toBe('permit');
    permit(health, exchanged).end(failed('overloaded', { retryAfterMs: 9_000 }));
    reload(at('other'));
    expect(refusalOf(health, at('other'))).toBe('permit');
    reload(exchanged);
    expect(refusalOf(health, exchanged)).toBe('permit');
  });
});

test('for any events, every place is given back', async () => {
  const narrow = at('a', { concurrency: { maxInFlight: 2, queueLength: 2, queueMs: 50 } });
  const actions = fc.array(
    fc.record({
      kind: fc.constantFrom('enter', 'enter', 'end', 'leave', 'advance', 'turn'),
      which: fc.nat(),
      result: fc.constantFrom<'finished' | 'given_up' | FailureClass>(
        ...(['finished', 'given_up', 'cut', 'credential', 'rate_limited', 'bad_request'] as const),
      ),
    }),
    { maxLength: 80 },
  );
  await fc.assert(
    fc.asyncProperty(actions, async (all) => {
      const { health, time } = rig(narrow);
      const permits: Permit[] = [];
      const leaves: (() => void)[] = [];
      const take = (entry: { readonly kind: string } | Permit): void => {
        if ('end' in entry) permits.push(entry);
      };
      for (const { kind, which, result } of all) {
        if (kind === 'enter') {
          const entry = health.enter(narrow, FIRST);
          if (entry.kind === 'queued') {
            leaves.push(entry.leave);
            void entry.entry.then(take);
          } else take(entry);
        } else if (kind === 'leave') leaves[which % leaves.length || 0]?.();
        else if (kind === 'advance') time.advance(which % 5_000);
        else if (kind === 'turn') await new Promise((wake) => setImmediate(wake));
        else {
          const [ended] = permits.splice(which % permits.length || 0, 1);
          ended?.end(result === 'finished' || result === 'given_up' ? result : failed(result));
        }
        expect(health.states()[0]?.inFlight ?? 0).toBeLessThanOrEqual(2);
      }
      time.advance(1_000_000);
      await new Promise((wake) => setImmediate(wake));
      for (const each of permits) each.end('given_up');
      await new Promise((wake) => setImmediate(wake));
      for (const each of permits) each.end('given_up');
      expect(health.states()[0]).toMatchObject({ inFlight: 0, queued: 0 });
      expect(health.waitMs(narrow)).toBe(0);
    }),
    { numRuns: 200 },
  );
});

describe('what an operator says is mended', () => {
  test('an open breaker closes, and answers to what was asked before change nothing', () => {
    const { health } = rig(A);
    const earlier = permit(health, A);
    for (let turn = 0; turn < 5; turn += 1) permit(health, A).end(failed('server_error'));
    expect(refusalOf(health, A)).toBe(BREAKER_OPEN);
    health.reset('a');
    earlier.end(failed('server_error'));
    expect(health.states()[0]?.models).toEqual([{ model: 'a', breaker: 'closed' }]);
    permit(health, A).end('finished');
  });

  test('a refused credential is used again, also where its refusal comes after the reset', () => {
    const { health } = rig(A);
    const [one, two] = [permit(health, A), permit(health, A)];
    one.end(failed('credential', { status: 401 }));
    expect(refusalOf(health, A)).not.toBe('permit');
    health.reset('a');
    health.reset('unknown');
    expect(health.states()[0]?.credentials).toEqual([{ id: '1', state: 'ok' }]);
    two.end('finished');
    permit(health, A).end('finished');
  });
});

describe('two accounts', () => {
  const refused = failed('credential', { status: 401 });
  const BUSY = failed('rate_limited', { status: 429, retryAfterMs: 3_600_000 });

  test('a refusal of the one leaves the credential to the other, until a probe says otherwise', async () => {
    const { health, probes, alerts } = rig(A);
    const [ada, bob] = [health.of('ada'), health.of('bob')];
    permit(ada, A).end(refused);
    expect([refusalOf(bob, A), probes.asked, alerts]).toEqual(['permit', ['a 1'], []]);
    await probes.answer('finished');
    expect([refusalOf(ada, A), ada.waitMs(A), alerts]).toEqual(['permit', 0, []]);
  });

  test('a credential that a probe finds refused is in cooldown for both, and the operator is alerted once', async () => {
    const { health, probes, alerts, time } = rig(A);
    const [ada, bob] = [health.of('ada'), health.of('bob')];
    permit(ada, A).end(refused);
    await probes.answer(refused);
    expect([bob.waitMs(A), alerts]).toEqual([
      30_000,
      [{ kind: 'credential_refused', upstream: 'a', credential: '1', status: 401 }],
    ]);
    time.advance(30_000);
    permit(bob, A).end(refused);
    await probes.answer(refused);
    expect([ada.waitMs(A), alerts.length]).toEqual([60_000, 1]);
    time.advance(60_000);
    expect(refusalOf(bob, A)).toBe('permit');
    await probes.answer('finished');
    expect([refusalOf(ada, A), probes.asked.length]).toEqual(['permit', 3]);
  });

  test('failures of both are put to a probe', async () => {
    const { health, probes, alerts } = rig(A);
    const [ada, bob] = [health.of('ada'), health.of('bob')];
    for (let turn = 0; turn < 4; turn += 1) permit(ada, A).end(failed('server_error'));
    permit(bob, A).end(failed('server_error'));
    expect([refusalOf(health.of('cy'), A), probes.asked]).toEqual(['permit', ['a 1']]);
    await probes.answer(failed('overloaded', { status: 503, retryAfterMs: 7_000 }));
    expect([health.of('cy').waitMs(A), alerts]).toEqual([
      7_000,
      [{ kind: 'breaker_opened', upstream: 'a', model: 'a' }],
    ]);
  });

  describe('a refused request', () => {
    const REFUSED = failed('bad_request', { status: 400 });
    const outcome = async (entry: Permit, failure = REFUSED): Promise<FailureClass> => {
      entry.end(failure);
      return (await entry.attributed(failure)).class;
    };

    test("is put to a probe where nothing was answered yet, and is its caller's if that succeeds", async () => {
      const { health, probes, alerts } = rig(A);
      expect(await outcome(permit(health, A))).toBe('bad_request');
      expect(await outcome(permit(health, A))).toBe('bad_request');
      expect([probes.accepting, alerts, refusalOf(health, A)]).toEqual([['a'], [], 'permit']);
    });

    test("is the gateway's if the probe is refused, too: the model fails for all", async () => {
      const { health, probes, alerts, reload } = rig(A);
      const said = { code: 'model_not_found', message: 'No such model' };
      probes.acceptance = failed('mismatch', { status: 404, said });
      const both = [permit(health, A), permit(health.of('bob'), A)];
      expect(await Promise.all(both.map((each) => outcome(each)))).toEqual([
        'mismatch',
        'mismatch',
      ]);
      expect([probes.accepting, refusalOf(health.of('cy'), A)]).toEqual([['a'], BREAKER_OPEN]);
      expect(alerts).toEqual([
        {
          kind: 'breaker_opened',
          upstream: 'a',
          model: 'a',
          said: '404 model_not_found: No such model',
        },
      ]);
      // A catalog that was corrected is tried at once.
      reload({ ...A });
      expect(refusalOf(health.of('cy'), A)).toBe('permit');
    });

    test('is tried again after the cool-down, with a probe that decides', async () => {
      const { health, probes, time } = rig(A);
      probes.acceptance = REFUSED;
      await outcome(permit(health, A));
      await time.advance(60_000);
      expect(await outcome(permit(health, A))).toBe('mismatch');
      await new Promise((wake) => setImmediate(wake));
      expect(refusalOf(health, A)).toBe(BREAKER_OPEN);
      probes.acceptance = 'finished';
      await time.advance(60_000);
      permit(health, A).end('given_up');
      await new Promise((wake) => setImmediate(wake));
      expect([refusalOf(health, A), await outcome(permit(health, A))]).toEqual([
        'permit',
        'bad_request',
      ]);
    });

    test("is its caller's where others are answered, and doubted after five in a row", async () => {
      const { health, probes, time } = rig(A);
      permit(health.of('bob'), A).end('finished');
      probes.acceptance = REFUSED;
      for (let turn = 0; turn < 4; turn += 1) {
        expect(await outcome(permit(health, A))).toBe('bad_request');
      }
      permit(health.of('bob'), A).end('finished');
      for (let turn = 0; turn < 4; turn += 1) {
        expect(await outcome(permit(health, A))).toBe('bad_request');
      }
      expect(probes.accepting).toEqual([]);
      probes.acceptance = 'finished';
      for (let turn = 0; turn < 50; turn += 1) {
        expect(await outcome(permit(health, A))).toBe('bad_request');
      }
      expect(probes.accepting).toEqual(['a']);
      probes.acceptance = REFUSED;
      await time.advance(60_000);
      expect(await outcome(permit(health, A))).toBe('mismatch');
    });

    test("is its caller's if another one is answered while the probe runs", async () => {
      const { health, probes } = rig(A);
      probes.acceptance = REFUSED;
      const [refused, answered] = [permit(health, A), permit(health.of('bob'), A)];
      const asked = outcome(refused);
      answered.answered();
      expect([await asked, refusalOf(health, A)]).toEqual(['bad_request', 'permit']);
    });

    test("is its caller's if a probe has no verdict", async () => {
      const { health, probes } = rig(A);
      probes.acceptance = failed('overloaded', { status: 503 });
      expect([await outcome(permit(health, A)), refusalOf(health.of('bob'), A)]).toEqual([
        'bad_request',
        'permit',
      ]);
    });

    test("without a cool-down is the gateway's, and the upstream stays in use", async () => {
      const always = at('a', { coolDownMs: 0 });
      const { health, probes, alerts } = rig(always);
      probes.acceptance = REFUSED;
      for (let turn = 0; turn < 3; turn += 1) {
        expect(await outcome(permit(health, always))).toBe('mismatch');
      }
      expect([probes.accepting, alerts.length]).toEqual([['a'], 1]);
      permit(health.of('bob'), always).end('finished');
      expect(await outcome(permit(health, always))).toBe('bad_request');
    });

    test('that names what the gateway chose is shown to operators', () => {
      const { health, alerts } = rig(A);
      permit(health, A).end(failed('mismatch', { status: 400, chosen: 'max_tokens' }));
      expect(alerts).toEqual([
        {
          kind: 'parameter_refused',
          upstream: 'a',
          model: 'a',
          parameter: 'max_tokens',
          said: '400',
        },
      ]);
      expect(health.states()[0]?.models[0]).toMatchObject({ refuses: 'max_tokens' });
    });
  });

  test('a rate limit of one credential is that of the account which met it', async () => {
    const two = at('a', { credentials: keys('1', '2') });
    const { health, probes } = rig(two);
    const [ada, bob] = [health.of('ada'), health.of('bob')];
    permit(ada, two).end(BUSY);
    permit(ada, two).end(BUSY);
    expect([ada.waitMs(two), bob.waitMs(two), probes.asked]).toEqual([60_000, 0, []]);
    permit(bob, two).end(BUSY);
    expect(probes.asked).toEqual(['a 1']);
    await probes.answer('finished');
    expect(health.of('cy').waitMs(two)).toBe(0);
  });

  test('one that a single account asks for in the right moment does not keep the others out', async () => {
    const { health, probes, time } = rig(A);
    const [ada, bob] = [health.of('ada'), health.of('bob')];
    for (const each of [ada, bob])
      permit(each, A).end(failed('overloaded', { retryAfterMs: 5_000 }));
    await probes.answer(failed('overloaded'));
    time.advance(5_000);
    // It stalls, for as long as it likes.
    permit(ada, A);
    expect(refusalOf(bob, A)).toBe(BREAKER_OPEN);
    await probes.answer('finished');
    expect(refusalOf(bob, A)).toBe('permit');
  });

  test('the alert of an upstream without a cool-down needs a probe, too', async () => {
    const always = at('a', { coolDownMs: 0 });
    const { health, probes, alerts } = rig(always);
    for (let turn = 0; turn < 3; turn += 1) permit(health, always).end(refused);
    await probes.answer(refused);
    expect([alerts.length, probes.asked.length, refusalOf(health, always)]).toEqual([
      1,
      1,
      'permit',
    ]);
  });
});
