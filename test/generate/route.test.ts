// Which attempt serves: the first that delivers, no attempt after a caller's own mistake or after
// the client has left, and a record of every one that failed or was skipped.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { FailureClass } from '../../src/core/failure.ts';
import type { Candidate } from '../../src/core/route.ts';
import { NO_USAGE } from '../../src/core/usage.ts';
import type { Batch } from '../../src/upstream/attempt.ts';
import { CUT, FINISH, HELLO } from './fixtures.ts';
import { type Asked, at, createRouteRig, DELIVERS, fails, keys } from './route-rig.ts';

const A = at('a', { fallback: 'none' });
const B = at('b', { fallback: 'no_dearer' });
const C = at('c', { fallback: 'no_dearer' });

async function run(answers: Asked['answers'], more: Partial<Asked> = {}) {
  const rig = createRouteRig();
  const ran = await rig.run({ candidates: [A, B], answers, ...more });
  const asked = rig.questions.map(({ model }) => model).join(' ');
  return { ...rig, ...ran, asked };
}

test('the first that delivers serves, and no other upstream is called', async () => {
  const { routed, asked, story } = await run([[DELIVERS], [DELIVERS]]);
  expect([asked, story]).toEqual(['a', []]);
  expect(routed).toMatchObject({ kind: 'serving', first: DELIVERS });
});

test('hidden thinking is not content: the next one is asked after it', async () => {
  const thinks: Batch = { events: [{ kind: 'reasoning-delta', text: 'Hm.' }] };
  const answers = [[thinks, fails('cut')], [DELIVERS]];
  expect((await run(answers, { showsReasoning: false })).served).toBe('b');
  expect((await run(answers)).routed).toMatchObject({ kind: 'serving', first: thinks });
  const finish = { kind: 'finish', reason: 'insufficient_system_resource' } as const;
  const exhausted: Batch = { events: [finish], end: 'finished' };
  const tired = [[thinks, exhausted], [DELIVERS]];
  expect((await run(tired, { showsReasoning: false })).served).toBe('b');
});

test('a credential that a probe finds refused is reported to the operator, also where another one serves', async () => {
  const refused = fails('credential', { status: 401 });
  const { served, alerts, probes } = await run([[refused], [DELIVERS]]);
  expect([served, alerts]).toEqual(['b', []]);
  await probes.answer({ class: 'credential', detail: 'no', status: 401 });
  expect(alerts).toEqual([
    { kind: 'credential_refused', upstream: 'a', credential: '1', status: 401 },
  ]);
});

test.each<FailureClass>([
  'timeout',
  'rate_limited',
  'overloaded',
  'credential',
  'server_error',
  'mismatch',
  'malformed',
  'cut',
])('after %s the next one is asked at once, and the failure is recorded', async (kind) => {
  const { served, story, time } = await run([[fails(kind)], [DELIVERS]]);
  expect([served, story, time.started]).toEqual(['b', [`a ${kind}`], []]);
});

test('what no upstream of the model can express is not sent to a fallback', async () => {
  const also = alsoAt('c');
  const all = { candidates: [A, also, B] };
  const none = await run([[fails('unsupported')], [fails('unsupported')], [DELIVERS]], all);
  expect(none.routed).toMatchObject({ kind: 'failed', failure: { class: 'unsupported' } });
  expect(none.asked).toBe('a a');
  expect((await run([[fails('unsupported')], [DELIVERS]], all)).served).toBe('a');
  // An outage of the one that can express it is what fallbacks are for.
  const down = await run([[fails('unsupported')], [fails('malformed')], [DELIVERS]], all);
  expect(down.served).toBe('b');
});

test.each<FailureClass>(['timeout', 'overloaded', 'server_error', 'cut'])(
  'after %s, without another upstream, the same one is retried after a pause',
  async (kind) => {
    const low = await run([[fails(kind)], [DELIVERS]], { candidates: [A] });
    expect([low.served, low.asked, low.time.started]).toEqual(['a', 'a a', [100]]);
    const high = await run([[fails(kind)], [DELIVERS]], { candidates: [A], dice: 0.999 });
    expect(Math.round(high.time.started[0] ?? 0)).toBe(799);
  },
);

test.each<FailureClass>(['credential', 'mismatch', 'unsupported', 'malformed', 'rate_limited'])(
  'after %s no upstream is retried',
  async (kind) => {
    const { routed, asked } = await run([[fails(kind)], [DELIVERS]], { candidates: [A] });
    expect([routed.kind, asked]).toEqual(['failed', 'a']);
  },
);

test('a short delay of a rate limit is waited for, once, with any number of other upstreams', async () => {
  const limited = fails('rate_limited', { retryAfterMs: 2_000 });
  const candidates = [{ ...A, timeouts: { ...A.timeouts, totalMs: 60_000 } }, B];
  const patient = await run([[limited], [DELIVERS]], { candidates });
  expect([patient.asked, patient.time.started]).toEqual(['a a', [2_000]]);
  const moved = await run([[limited], [limited], [DELIVERS]], { candidates });
  expect([moved.asked, moved.time.started]).toEqual(['a a b', [2_000]]);
});

test('a long delay is not waited for, and the upstream is left alone for that time', async () => {
  const limited = fails('rate_limited', { retryAfterMs: 2_001 });
  const { asked, health } = await run([[limited], [DELIVERS]]);
  expect([asked, health.waitMs(A)]).toEqual(['a b', 2_001]);
  const busy = fails('overloaded', { status: 503, retryAfterMs: 999_999 });
  const alone = await run([[busy], [DELIVERS]], { candidates: [A] });
  expect([alone.asked, alone.health.waitMs(A)]).toEqual(['a', 60_000]);
  expect(alone.routed).toMatchObject({ kind: 'failed', retryAfterMs: 60_000 });
});

test('one that cannot be reached is asked once more on a new connection, and only once', async () => {
  const closed = fails('unreachable');
  const again = await run([[closed], [DELIVERS]]);
  expect([again.served, again.asked, again.time.started]).toEqual(['a', 'a a', []]);
  const gone = await run([[closed], [closed], [DELIVERS]]);
  expect([gone.served, gone.story]).toEqual(['b', ['a unreachable', 'a unreachable']]);
});

test('kept connections that are all closed at once leave a model available', async () => {
  const rig = createRouteRig();
  const stale = fails('unreachable', { onKeptConnection: true });
  const all = Array.from({ length: 8 }, () =>
    rig.run({ candidates: [A], answers: [[stale], [DELIVERS]] }),
  );
  expect((await Promise.all(all)).map(({ served }) => served)).toEqual(all.map(() => 'a'));
  expect(rig.started.length).toBe(16);
});

test('where no connection can be made to two upstreams, the third is asked', async () => {
  const refused = fails('unreachable', { phase: 'connect' });
  const { served, story } = await run([[refused], [refused], [DELIVERS]], {
    candidates: [A, at('a2'), B],
  });
  expect([served, story]).toEqual(['b', ['a unreachable', 'a2 unreachable']]);
});

test.each<FailureClass>(['bad_request', 'context_length', 'gateway'])(
  'after %s no other upstream is called',
  async (kind) => {
    const { routed, asked } = await run([[fails(kind)], [DELIVERS]]);
    expect(routed).toEqual({ kind: 'failed', failure: { class: kind, detail: kind } });
    expect(asked).toBe('a');
  },
);

/** Another place that runs the model of `A`. */
const alsoAt = (id: string): Candidate => ({ ...A, upstream: { ...A.upstream, id } });

test('at most three attempts at one model, and the last failure is reported', async () => {
  const many = await run([[fails('cut')], [fails('cut')], [fails('timeout')], [DELIVERS]], {
    candidates: [A, alsoAt('b'), alsoAt('c'), alsoAt('d')],
  });
  expect(many.routed).toEqual({ kind: 'failed', failure: { class: 'timeout', detail: 'timeout' } });
  expect(many.asked).toBe('a a a');
  const one = await run([[fails('cut')], [fails('cut')], [fails('cut')], [DELIVERS]], {
    candidates: [A],
  });
  expect([one.asked, one.time.started]).toEqual(['a a a', [100, 100]]);
});

test('each fallback model is tried, after any failure', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 1, max: 6 }),
      fc.constantFrom('cut', 'server_error', 'malformed', 'mismatch', 'overloaded'),
      async (upstreams, fallbacks, kind) => {
        const own = Array.from({ length: upstreams }, (_, index) => alsoAt(`own ${index}`));
        const others = Array.from({ length: fallbacks }, (_, index) =>
          at(`fallback ${index}`, { fallback: 'no_dearer' }),
        );
        const failures = Math.min(3, upstreams) + fallbacks - 1;
        const answers = Array.from({ length: failures }, () => [fails(kind)]);
        const { served } = await run([...answers, [DELIVERS]], { candidates: [...own, ...others] });
        expect(served).toBe(`fallback ${fallbacks - 1}`);
      },
    ),
  );
});

test('a transient failure is reported before a permanent one', async () => {
  const { routed } = await run([[fails('malformed')], [fails('unsupported')]]);
  expect(routed).toMatchObject({ kind: 'failed', failure: { class: 'malformed' } });
});

test('no candidate at all is a failure, not an answer', async () => {
  const { routed } = await run([], { candidates: [] });
  expect(routed).toMatchObject({ kind: 'failed', failure: { class: 'unreachable' } });
});

test('all questions share one deadline: that of the requested model', async () => {
  const rig = createRouteRig();
  const slow = (): void => rig.time.advance(400);
  await rig.run({
    candidates: [A, B, C],
    answers: [[fails('cut')], [fails('cut')], [DELIVERS]],
    onAttempt: slow,
  });
  expect(rig.questions.map(({ totalMs }) => totalMs)).toEqual([1_000, 600, 200]);
  const late = createRouteRig();
  const { routed } = await late.run({
    candidates: [A, B],
    answers: [[fails('cut')], [DELIVERS]],
    onAttempt: () => late.time.advance(1_000),
  });
  expect([routed.kind, late.questions.length]).toEqual(['failed', 1]);
});

test('each gets its own bound', async () => {
  const small = { ...B, maxOutputTokens: 7 };
  const { started } = await run([[fails('cut')], [DELIVERS]], { candidates: [A, small] });
  expect(started.map((each) => each.candidate.maxOutputTokens)).toEqual([100, 7]);
});

test('where one credential is refused the next is used, then the next candidate', async () => {
  const two = at('a', { credentials: keys('1', '2', '3') });
  const refused = fails('credential', { status: 401 });
  const rig = createRouteRig();
  const all = { candidates: [two, B] };
  await rig.run({ ...all, answers: [[refused], [DELIVERS]] });
  await rig.run({ ...all, answers: [[refused], [refused], [DELIVERS]] });
  // 1 and 3 rest by then, and 2 as well.
  await rig.run({ ...all, answers: [[DELIVERS]] });
  expect(rig.questions.map(({ model, credential }) => model + credential)).toEqual([
    ...['a1', 'a2'],
    ...['a3', 'a2', 'b1'],
    'b1',
  ]);
});

test('a rate limit is of one credential where there are several', async () => {
  const two = at('a', { credentials: keys('1', '2') });
  const limited = fails('rate_limited', { retryAfterMs: 1_000 });
  const { questions, time, health } = await run([[limited], [DELIVERS]], { candidates: [two] });
  expect(questions.map(({ credential }) => credential)).toEqual(['1', '2']);
  expect([time.started, health.waitMs(two)]).toEqual([[], 0]);
});

test('one that is left alone is not asked, and that is recorded', async () => {
  const rig = createRouteRig();
  const busy = fails('overloaded', { retryAfterMs: 5_000 });
  await rig.run({ candidates: [A, B], answers: [[busy], [DELIVERS]] });
  const second = await rig.run({ candidates: [A, B], answers: [[DELIVERS]] });
  expect([second.served, second.story]).toEqual(['b', ['a no_capacity']]);
});

test('where every upstream is skipped it fails at once, with the time until the first retry', async () => {
  const rig = createRouteRig();
  const busy = (seconds: number) => fails('overloaded', { retryAfterMs: seconds * 1_000 });
  await rig.run({ candidates: [A, B], answers: [[busy(30)], [busy(10)]] });
  const { routed, story } = await rig.run({ candidates: [A, B], answers: [[DELIVERS]] });
  expect(story).toEqual(['a no_capacity', 'b no_capacity']);
  expect(routed).toMatchObject({
    kind: 'failed',
    failure: { class: 'no_capacity' },
    retryAfterMs: 10_000,
  });
  expect(rig.questions.length).toBe(2);
});

test('a failure after content is not routed: what was read is served', async () => {
  const { routed, served } = await run([[DELIVERS, { events: [], end: CUT }], [DELIVERS]]);
  expect([served, routed]).toMatchObject(['a', { kind: 'serving', first: DELIVERS }]);
});

test('a failure in the same read as content goes to the next: nothing was sent yet', async () => {
  const { served } = await run([[{ events: [HELLO], end: CUT }], [DELIVERS]]);
  expect(served).toBe('b');
});

test('where only a whole answer will do, content that breaks off goes to the next', async () => {
  const whole: Batch = { events: [HELLO, FINISH], end: 'finished' };
  const broken: Batch[] = [DELIVERS, { events: [], end: CUT }];
  const { routed, served } = await run([broken, [DELIVERS, whole]], { until: 'end' });
  const first: Batch = { events: [HELLO, HELLO, FINISH], end: 'finished' };
  expect([served, routed]).toMatchObject(['b', { kind: 'serving', first }]);
});

test('usage alone is not content, a finish is an answer', async () => {
  const usage = { ...NO_USAGE, inputTokens: 1, basis: 'reported' } as const;
  const early: Batch = { events: [{ kind: 'usage', usage }] };
  expect((await run([[early, fails('cut')], [DELIVERS]])).served).toBe('b');
  const empty: Batch = { events: [FINISH], end: 'finished' };
  expect((await run([[early, empty], [DELIVERS]])).served).toBe('a');
});

test('"no resources" without content is a failed attempt; after content it is the answer', async () => {
  const exhausted: Batch = {
    events: [{ kind: 'finish', reason: 'insufficient_system_resource' }],
    end: 'finished',
  };
  const { served, story, started } = await run([[exhausted], [DELIVERS]]);
  expect([served, story, started[0]?.aborts()]).toEqual(['b', ['a overloaded'], 1]);
  const late: Batch = { ...exhausted, events: [HELLO, ...exhausted.events] };
  expect((await run([[late], [DELIVERS]])).served).toBe('a');
});
