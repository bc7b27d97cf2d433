// Where a route waits, and what ends the wait: pauses, queues and silence, with a client that
// leaves at each of these points. Each permit is released in every case.

import { describe, expect, test } from 'bun:test';
import type { AttemptPhase } from '../../src/core/failure.ts';
import type { Batch } from '../../src/upstream/attempt.ts';
import { CUT, HELLO } from './fixtures.ts';
import { type Asked, at, createRouteRig, DELIVERS, fails } from './route-rig.ts';

const A = at('a');
const B = at('b', { fallback: 'no_dearer' });
const LATE = { ...A, timeouts: { ...A.timeouts, totalMs: 60_000 } };

/** The same model at another upstream. */
const A2 = { ...A, upstream: { ...A.upstream, id: 'a2' } };

const SILENT = 5;

describe('a client that leaves', () => {
  test('while an upstream is silent: the attempt is recorded and no other upstream is called', async () => {
    const rig = createRouteRig();
    const { routed, story } = await rig.run({
      candidates: [A, B],
      answers: [[], [DELIVERS]],
      onAttempt: () => void setImmediate(rig.leave),
    });
    expect(routed).toMatchObject({ kind: 'cancelled', asked: { first: { end: CUT } } });
    expect([story, rig.questions.length, rig.inFlight()]).toEqual([['a cut'], 1, 0]);
  });

  test('in a pause: it ends at once, and no upstream is called again', async () => {
    const rig = createRouteRig({ runsByItself: false });
    const ran = rig.run({ candidates: [A], answers: [[fails('cut')], [DELIVERS]] });
    await until(() => rig.time.waiting() === 1);
    rig.leave();
    const { routed, story } = await ran;
    expect([routed, story]).toEqual([{ kind: 'cancelled' }, ['a cut']]);
    expect([rig.questions.length, rig.inFlight(), rig.time.waiting()]).toEqual([1, 0, 0]);
  });

  test('in a queue: it is gone at once, and takes no place', async () => {
    const rig = createRouteRig({ runsByItself: false });
    const narrow = at('a', { concurrency: { maxInFlight: 1, queueLength: 1, queueMs: 100 } });
    const holder = rig.run({ candidates: [narrow], answers: [[]], silentCommitMs: 10_000 });
    const waiter = rig.run({ candidates: [narrow], answers: [[DELIVERS]] });
    await until(() => rig.health.states()[0]?.queued === 1);
    rig.leave();
    expect((await waiter).routed).toEqual({ kind: 'cancelled' });
    rig.started[0]?.abort();
    expect((await holder).routed.kind).toBe('cancelled');
    expect([rig.questions.length, rig.time.waiting()]).toEqual([1, 0]);
  });

  test('as it is let in: its permit is given back', async () => {
    const rig = createRouteRig({ runsByItself: false });
    const narrow = at('a', { concurrency: { maxInFlight: 1, queueLength: 1, queueMs: 100 } });
    const held = rig.health.enter(narrow, { kind: 'first' });
    const waiter = rig.run({ candidates: [narrow], answers: [[DELIVERS]] });
    await until(() => rig.health.states()[0]?.queued === 1);
    if (held.kind === 'permit') held.end('finished');
    rig.leave();
    expect((await waiter).routed).toEqual({ kind: 'cancelled' });
    expect([rig.questions.length, rig.inFlight()]).toEqual([0, 0]);
  });

  test('before anything: no upstream is called', async () => {
    const rig = createRouteRig();
    rig.leave();
    const { routed, story } = await rig.run({ candidates: [A, B], answers: [[DELIVERS]] });
    expect([routed, story, rig.inFlight()]).toEqual([{ kind: 'cancelled' }, [], 0]);
  });
});

test('a queue that takes too long is none of the attempts, and the next is asked', async () => {
  const rig = createRouteRig();
  const narrow = at('a', { concurrency: { maxInFlight: 1, queueLength: 1, queueMs: 100 } });
  rig.health.enter(narrow, { kind: 'first' });
  const { served, story } = await rig.run({
    candidates: [narrow, B],
    answers: [[fails('cut')], [fails('cut')], [DELIVERS]],
  });
  expect([served, story]).toEqual(['b', ['a no_capacity', 'b cut', 'b cut']]);
  const full = at('a', { concurrency: { maxInFlight: 1, queueLength: 0, queueMs: 100 } });
  const { routed } = await rig.run({ candidates: [full], answers: [] });
  expect(routed).toMatchObject({
    kind: 'failed',
    failure: { class: 'no_capacity' },
    retryAfterMs: 1,
  });
});

test('an attempt that cannot be started, or breaks as no attempt should, leaves no place taken', async () => {
  const rig = createRouteRig();
  const broken = rig.run({
    candidates: [A],
    answers: [[DELIVERS]],
    onAttempt() {
      throw new Error('ours');
    },
  });
  await expect(broken).rejects.toThrow('ours');
  expect(rig.inFlight()).toBe(0);
});

test('an answer that cannot be read for an error of our own stops its upstream, and leaves no place taken', async () => {
  const rig = createRouteRig();
  const wrong = { events: undefined } as unknown as Batch;
  const broken = rig.run({ candidates: [A], answers: [[wrong]] });
  expect(await broken.catch(() => 'broken')).toBe('broken');
  expect([rig.inFlight(), rig.started.map(({ aborts }) => aborts())]).toEqual([0, [1]]);
});

test('who gets what is left of the time is not left alone because that was too little', async () => {
  const rig = createRouteRig();
  const slow = at('a', { coolDownMs: 0 });
  const late = async (phase: AttemptPhase): Promise<number> => {
    let askedMs = 400;
    await rig.run({
      candidates: [slow, B],
      answers: [[fails('cut')], [fails('timeout', { phase })]],
      onAttempt() {
        rig.time.advance(askedMs);
        askedMs = 600;
      },
    });
    return rig.health.waitMs(B);
  };
  for (let turn = 0; turn < 5; turn += 1) await late('total');
  expect(rig.health.waitMs(B)).toBe(0);
  for (let turn = 0; turn < 5; turn += 1) await late('first_byte');
  expect(rig.health.waitMs(B)).toBeGreaterThan(0);
});

test('every request that waits for a short delay is retried after it', async () => {
  const rig = createRouteRig();
  const limited = fails('rate_limited', { retryAfterMs: 1_000 });
  const all = Array.from({ length: 8 }, () =>
    rig.run({ candidates: [LATE], answers: [[limited], [DELIVERS]] }),
  );
  expect((await Promise.all(all)).map(({ served }) => served)).toEqual(all.map(() => 'a'));
});

test('repetitions come to an end where all fail: a fifth, and ten', async () => {
  const rig = createRouteRig();
  const always = at('a', { coolDownMs: 0 });
  const closed = fails('unreachable');
  for (let turn = 0; turn < 40; turn += 1) {
    await rig.run({ candidates: [always], answers: [[closed], [closed], [closed]] });
  }
  expect(rig.time.now()).toBeLessThan(9_000);
  expect(rig.questions.length).toBe(40 + 40 / 5 + 10);
});

describe('after too long a silence', () => {
  const silent = (answers: Asked['answers'], candidates: Asked['candidates']) => {
    const rig = createRouteRig({ runsByItself: false });
    const ran = rig.run({ candidates, answers, silentCommitMs: SILENT });
    return { rig, ran };
  };

  test('the answer begins, and what it says is still to come', async () => {
    const { rig, ran } = silent([[], [fails('malformed')]], [A]);
    const { routed } = await ran;
    if (routed.kind !== 'silent') throw new Error(routed.kind);
    expect(rig.questions.length).toBe(1);
    rig.started[0]?.abort();
    await until(() => rig.time.waiting() === 1);
    rig.time.advance(800);
    expect(await routed.found).toMatchObject({ kind: 'failed', failure: { class: 'malformed' } });
    expect(rig.questions.map(({ model }) => model)).toEqual(['a', 'a']);
  });

  test('the same model may still answer from elsewhere', async () => {
    const { rig, ran } = silent([[], [DELIVERS]], [A, A2, B]);
    const { routed } = await ran;
    if (routed.kind !== 'silent') throw new Error(routed.kind);
    rig.started[0]?.abort();
    expect(await routed.found).toMatchObject({ kind: 'serving', first: { events: [HELLO] } });
    expect(rig.questions.map(({ upstream }) => upstream)).toEqual(['a', 'a2']);
  });

  test('a fallback may still answer', async () => {
    const { rig, ran } = silent([[], [fails('malformed')], [DELIVERS]], [A, A2, B]);
    const { routed } = await ran;
    if (routed.kind !== 'silent') throw new Error(routed.kind);
    rig.started[0]?.abort();
    expect(await routed.found).toMatchObject({ kind: 'serving', first: { events: [HELLO] } });
    expect(rig.questions.map(({ model }) => model)).toEqual(['a', 'a', 'b']);
  });

  test('a fallback that is silent as well leaves the search open', async () => {
    const { rig, ran } = silent([[fails('cut')], []], [A, B]);
    const { routed } = await ran;
    expect(routed).toMatchObject({ kind: 'silent' });
    rig.leave();
  });

  test('a client that leaves ends it', async () => {
    const { rig, ran } = silent([[]], [A, A2]);
    const { routed } = await ran;
    if (routed.kind !== 'silent') throw new Error(routed.kind);
    rig.leave();
    expect(await routed.found).toMatchObject({ kind: 'cancelled', asked: { first: { end: CUT } } });
    expect([rig.questions.length, rig.inFlight()]).toEqual([1, 0]);
  });

  test('whole answers have none: nothing of them has left', async () => {
    const rig = createRouteRig({ runsByItself: false });
    const ran = rig.run({ candidates: [LATE], answers: [[]], silentCommitMs: 1, until: 'end' });
    await Bun.sleep(10);
    rig.leave();
    expect((await ran).routed.kind).toBe('cancelled');
  });
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((wake) => setImmediate(wake));
}
