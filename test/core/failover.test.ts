// The step after a failure: one for each class and situation, and laws that hold for all.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { decideStep, type Situation, type Step, tellingFailure } from '../../src/core/failover.ts';
import { FAILURES, type FailureClass, type UpstreamFailure } from '../../src/core/failure.ts';

const CLASSES = Object.keys(FAILURES) as FailureClass[];

/** A first failure of the only candidate, right away, with everything allowed. */
const ALONE: Situation = {
  attempts: 1,
  repeated: false,
  hasOtherCredential: false,
  hasNext: false,
  hasNewModel: false,
  mayRepeat: true,
  elapsedMs: 10,
  deadlineMs: 60_000,
  cancelled: false,
  dice: 0.5,
};

const PAUSE = 450;

/** `again 0`, `next` or `stop`. */
function said(step: Step): string {
  return step.kind === 'again' ? `again ${step.afterMs}` : step.kind;
}

function stepOf(kind: FailureClass, change: Partial<Situation>, retryAfterMs?: number): string {
  const failure: UpstreamFailure = {
    class: kind,
    detail: '',
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
  return said(decideStep(failure, { ...ALONE, ...change }));
}

type Row = {
  readonly alone: string;
  readonly withNext: string;
  /** With another credential, and a next candidate. */
  readonly withCredential: string;
  /** It had been asked before, and there is a next candidate or none. */
  readonly repeated: string;
  readonly repeatedAlone: string;
};

const LAST_RESORT: Row = {
  alone: `again ${PAUSE}`,
  withNext: 'next',
  withCredential: 'next',
  repeated: 'next',
  repeatedAlone: `again ${PAUSE}`,
};
const MOVES_ON: Row = {
  alone: 'stop',
  withNext: 'next',
  withCredential: 'next',
  repeated: 'next',
  repeatedAlone: 'stop',
};
const ENDS: Row = {
  alone: 'stop',
  withNext: 'stop',
  withCredential: 'stop',
  repeated: 'stop',
  repeatedAlone: 'stop',
};

const TABLE: Readonly<Record<FailureClass, Row>> = {
  unreachable: { ...LAST_RESORT, alone: 'again 0', withNext: 'again 0', withCredential: 'again 0' },
  timeout: LAST_RESORT,
  rate_limited: { ...MOVES_ON, withCredential: 'again 0' },
  overloaded: LAST_RESORT,
  no_capacity: MOVES_ON,
  credential: { ...MOVES_ON, withCredential: 'again 0' },
  server_error: LAST_RESORT,
  mismatch: MOVES_ON,
  bad_request: ENDS,
  content_policy: ENDS,
  too_large: MOVES_ON,
  context_length: ENDS,
  unsupported: MOVES_ON,
  malformed: MOVES_ON,
  cut: LAST_RESORT,
  gateway: ENDS,
};

describe('the step after a failure', () => {
  test.each(CLASSES)('%s', (kind) => {
    const found: Row = {
      alone: stepOf(kind, {}),
      withNext: stepOf(kind, { hasNext: true }),
      withCredential: stepOf(kind, { hasNext: true, hasOtherCredential: true }),
      repeated: stepOf(kind, { repeated: true, hasNext: true, attempts: 2 }),
      repeatedAlone: stepOf(kind, { repeated: true, attempts: 2 }),
    };
    expect(found).toEqual(TABLE[kind]);
  });

  test.each(CLASSES)('%s: nothing after the deadline, or when the client has left', (kind) => {
    const all = { hasNext: true, hasNewModel: true, hasOtherCredential: true };
    for (const change of [{ elapsedMs: 60_000 }, { cancelled: true }]) {
      expect(stepOf(kind, { ...all, ...change })).toBe('stop');
    }
  });

  test.each(CLASSES)('%s: after the third attempt only a model that was not tried', (kind) => {
    const late = { attempts: 3, hasNext: true, hasOtherCredential: true };
    expect(stepOf(kind, late)).toBe('stop');
    const step = stepOf(kind, { ...late, hasNewModel: true });
    expect(step).toBe(FAILURES[kind].next ? 'next_model' : 'stop');
  });

  test.each(CLASSES)('%s: without a budget no upstream is retried', (kind) => {
    expect(stepOf(kind, { mayRepeat: false })).toBe('stop');
    const next = stepOf(kind, { mayRepeat: false, hasNext: true });
    expect(next).toBe(FAILURES[kind].next ? 'next' : 'stop');
  });

  test.each(CLASSES)('%s: an old request is not retried, and may still go on', (kind) => {
    expect(stepOf(kind, { elapsedMs: 30_000 })).toBe('stop');
    const next = stepOf(kind, { elapsedMs: 30_000, hasNext: true });
    expect(next).toBe(FAILURES[kind].next ? 'next' : 'stop');
  });
});

test('one to which no connection could be made is retried where no other upstream is left', () => {
  const failure: UpstreamFailure = { class: 'unreachable', phase: 'connect', detail: '' };
  const step = (change: Partial<Situation>) => decideStep(failure, { ...ALONE, ...change }).kind;
  expect([step({ hasNext: true }), step({})]).toEqual(['next', 'again']);
});

test('a request that its upstream has not seen is sent again once, however late', () => {
  const failure: UpstreamFailure = { class: 'cut', detail: '', onKeptConnection: true };
  const step = (change: Partial<Situation>) =>
    said(decideStep(failure, { ...ALONE, attempts: 4, hasNewModel: true, ...change }));
  expect([step({}), step({ repeated: true }), step({ mayRepeat: false })]).toEqual([
    'again 0',
    'next_model',
    'next_model',
  ]);
});

describe('what the upstream asks for', () => {
  test.each([
    ['rate_limited', 0, 'again 0'],
    ['rate_limited', 1, 'again 1'],
    ['rate_limited', 2_000, 'again 2000'],
    ['rate_limited', 2_001, 'next'],
    ['overloaded', 1_000, 'next'],
  ] as const)('%s with %p ms and another upstream: %s', (kind, retryAfterMs, step) => {
    expect(stepOf(kind, { hasNext: true }, retryAfterMs)).toBe(step);
  });

  test.each([
    ['rate_limited', 2_000, 'again 2000'],
    ['rate_limited', 2_001, 'stop'],
    ['overloaded', 100, `again ${PAUSE}`],
    ['overloaded', 2_000, 'again 2000'],
    ['overloaded', 2_001, 'stop'],
    ['server_error', 5_000, 'stop'],
  ] as const)('%s with %p ms and no other upstream: %s', (kind, retryAfterMs, step) => {
    expect(stepOf(kind, {}, retryAfterMs)).toBe(step);
  });

  test('it is waited for once', () => {
    expect(stepOf('rate_limited', { repeated: true, hasNext: true }, 5)).toBe('next');
  });

  test('a pause that would outlast the deadline is not begun', () => {
    expect(stepOf('rate_limited', { deadlineMs: 2_000 }, 2_000)).toBe('stop');
    expect(stepOf('overloaded', { deadlineMs: 10 + PAUSE })).toBe('stop');
    expect(stepOf('overloaded', { deadlineMs: 11 + PAUSE })).toBe(`again ${PAUSE}`);
  });
});

const anyFailure: fc.Arbitrary<UpstreamFailure> = fc.record({
  class: fc.constantFrom(...CLASSES),
  detail: fc.constant(''),
  retryAfterMs: fc.integer({ min: 0, max: 100_000 }),
});
const anyUnseenFailure = anyFailure.map((failure) => ({
  ...failure,
  onKeptConnection: true as const,
}));
const anySituation: fc.Arbitrary<Situation> = fc.record({
  attempts: fc.integer({ min: 0, max: 4 }),
  repeated: fc.boolean(),
  hasOtherCredential: fc.boolean(),
  hasNext: fc.boolean(),
  hasNewModel: fc.boolean(),
  mayRepeat: fc.boolean(),
  elapsedMs: fc.integer({ min: 0, max: 100_000 }),
  deadlineMs: fc.integer({ min: 1, max: 100_000 }),
  cancelled: fc.boolean(),
  dice: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
});

test('no sequence takes a step past a bound, and a pause outside its range', () => {
  fc.assert(
    fc.property(fc.oneof(anyFailure, anyUnseenFailure), anySituation, (failure, situation) => {
      const step = decideStep(failure, situation);
      if (step.kind === 'stop') return;
      const isUnseen = failure.onKeptConnection === true && step.kind === 'again';
      if (step.kind !== 'next_model' && !isUnseen) expect(situation.attempts).toBeLessThan(3);
      expect(situation.elapsedMs).toBeLessThan(situation.deadlineMs);
      expect(situation.cancelled).toBe(false);
      expect(FAILURES[failure.class].next).toBe(true);
      if (step.kind === 'next') return expect(situation.hasNext).toBe(true);
      if (step.kind === 'next_model') return expect(situation.hasNewModel).toBe(true);
      expect(step.afterMs === 0 || (step.afterMs >= 1 && step.afterMs <= 2_000)).toBe(true);
      expect(situation.elapsedMs + step.afterMs).toBeLessThan(situation.deadlineMs);
      expect(situation.mayRepeat || situation.hasOtherCredential).toBe(true);
    }),
  );
});

test('pauses are spread over their whole range', () => {
  expect([0, 0.25, 0.5, 1].map((dice) => stepOf('cut', { dice }))).toEqual([
    'again 100',
    'again 275',
    'again 450',
    'again 800',
  ]);
});

test('of two failures the later one is reported, unless it says less', () => {
  const of = (kind: FailureClass): UpstreamFailure => ({ class: kind, detail: kind });
  const told = (earlier: FailureClass | undefined, later: FailureClass): FailureClass =>
    tellingFailure(earlier === undefined ? undefined : of(earlier), of(later)).class;
  expect(told(undefined, 'no_capacity')).toBe('no_capacity');
  expect(told('timeout', 'cut')).toBe('cut');
  expect(told('cut', 'no_capacity')).toBe('cut');
  expect(told('cut', 'unsupported')).toBe('cut');
  expect(told('no_capacity', 'unsupported')).toBe('no_capacity');
  expect(told('unsupported', 'no_capacity')).toBe('no_capacity');
  expect(told('unsupported', 'unsupported')).toBe('unsupported');
  expect(told('cut', 'bad_request')).toBe('bad_request');
});
