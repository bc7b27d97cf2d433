// An attempt with its money: it passes what the guard passes, and checkpoints often enough for the
// ledger to settle without it.

import { expect, test } from 'bun:test';
import type { UpstreamFailure } from '../../src/core/failure.ts';
import { micro, pico, tokenCount } from '../../src/core/money.ts';
import type { Progress } from '../../src/generate/checkpoints.ts';
import { Cover } from '../../src/generate/funded-output.ts';
import { MeteredAttempt } from '../../src/generate/metered-attempt.ts';
import { LedgerRefusal, LedgerUnavailable } from '../../src/ledger/error.ts';
import type { Batch } from '../../src/upstream/attempt.ts';
import { GIVEN_UP, UNCONNECTED } from '../../src/upstream/transport.ts';
import { LEFT_OUT } from '../../src/wire/upstream/limits.ts';
import { TIMEOUTS } from '../support/model.ts';
import { candidate, FINISH, listedAttempt } from './fixtures.ts';

const PRICE = {
  version: 'p',
  input: pico(1n),
  cachedInput: pico(1n),
  cacheWrite: pico(1n),
  output: pico(1_000_000n),
};

/** A wallet with nothing beside its hold of so many tokens. */
function setUp(
  batches: readonly Batch[],
  paidTokens = 4_096,
  outputBound = 4_096,
  {
    booked,
    showsReasoning = true,
    isWhole = false,
    timeouts = TIMEOUTS,
  }: {
    booked?: Promise<void>;
    showsReasoning?: boolean;
    isWhole?: boolean;
    timeouts?: typeof TIMEOUTS;
  } = {},
) {
  const served = { ...candidate('a'), maxOutputTokens: outputBound, timeouts };
  const inner = listedAttempt(served, batches);
  const cover = new Cover({
    excess: micro(0n),
    ledger: { extend: async () => ({ ok: false, available: micro(0n) }) },
    requestId: 'req_1',
    price: PRICE,
    promptTokens: tokenCount(0),
    amount: micro(BigInt(paidTokens)),
    outputBound: tokenCount(outputBound),
    lowered: false,
  });
  const saved: Progress[] = [];
  let nowMs = 0;
  const seen: Batch[] = [];
  const attempt = new MeteredAttempt(inner, {
    permit: { see: (batch) => void seen.push(batch), end: () => undefined },
    grant: { cover, untilHeld: () => undefined },
    countNow: (text) => text.length,
    monotonic: () => nowMs,
    streams: true,
    ...{ learned: { pace: () => 100 }, accountId: 'acct_1' },
    startTimer: () => () => undefined,
    delivery: isWhole
      ? undefined
      : {
          showsReasoning,
          isAwaited: booked !== undefined,
          async checkpoint(progress, isAwaited) {
            saved.push(progress);
            if (isAwaited) await booked;
          },
        },
  });
  const pass = (ms: number): void => {
    nowMs += ms;
  };
  return { attempt, inner, saved, seen, pass };
}

const text = (count: number): Batch => ({
  events: [{ kind: 'text-delta', text: 'x'.repeat(count) }],
});
const thought = (count: number): Batch => ({
  events: [{ kind: 'reasoning-delta', text: 'x'.repeat(count) }],
});

test('the ledger gets the first content and every few hundred tokens, thinking apart', async () => {
  const { attempt, saved } = setUp([thought(5), thought(295), text(100), text(300), text(10)]);
  for (let read = 0; read < 5; read += 1) await attempt.next();
  expect(saved).toEqual([
    { outputTokens: 5, reasoningTokens: 5 },
    { outputTokens: 300, reasoningTokens: 300 },
    { outputTokens: 700, reasoningTokens: 300 },
  ]);
});

test('thinking that the client does not see is no content yet', async () => {
  const { attempt, saved } = setUp([thought(300), text(1)], 4_096, 4_096, {
    showsReasoning: false,
  });
  await attempt.next();
  expect(saved).toEqual([]);
  await attempt.next();
  expect(saved).toEqual([{ outputTokens: 1, reasoningTokens: 0 }]);
});

test('of fewer, it hears after two seconds; of nothing new, never', async () => {
  const { attempt, saved, pass } = setUp([text(5), text(5), text(5), { events: [] }, text(1)]);
  await attempt.next();
  pass(1_999);
  await attempt.next();
  expect(saved).toEqual([{ outputTokens: 5, reasoningTokens: 0 }]);
  pass(1);
  await attempt.next();
  pass(2_000);
  await attempt.next();
  expect(saved.slice(1)).toEqual([{ outputTokens: 15, reasoningTokens: 0 }]);
  pass(2_000);
  await attempt.next();
  expect(saved.at(-1)).toEqual({ outputTokens: 16, reasoningTokens: 0 });
});

test('an end is settled, and needs no further checkpoint', async () => {
  const last: Batch = { events: [...text(900).events, FINISH], end: 'finished' };
  const { attempt, saved, inner } = setUp([text(1), last]);
  await attempt.next();
  expect(await attempt.next()).toBe(last);
  const first = { outputTokens: 1, reasoningTokens: 0 };
  expect([saved, attempt.hasCut(), inner.aborts()]).toEqual([[first], false, 0]);
});

test('a cut stops the upstream and reads as an answer that ended for its length', async () => {
  const { attempt, inner, seen } = setUp([text(10)], 7, 100);
  expect(await attempt.next()).toEqual({
    events: [
      { kind: 'text-delta', text: 'xxxxxxx' },
      { kind: 'finish', reason: 'length' },
    ],
    end: 'finished',
  });
  // How the upstream does is seen from what it has sent.
  expect(seen).toEqual([text(10)]);
  expect([attempt.hasCut(), inner.aborts(), attempt.meter.estimate(0).outputTokens]).toEqual([
    true,
    1,
    10,
  ]);
});

test('calls that are left out are paid for like the others, and not passed on', async () => {
  const leftOut = (json: string): Batch => ({
    events: [{ kind: 'tool-delta', index: LEFT_OUT, json }],
  });
  const { attempt } = setUp([text(4), leftOut('12345'), leftOut('67890')], 12);
  expect(await attempt.next()).toEqual(text(4));
  expect(await attempt.next()).toEqual({ events: [] });
  expect(attempt.meter.estimate(0).outputTokens).toBe(9);
  expect(await attempt.next()).toEqual({
    events: [{ kind: 'finish', reason: 'length' }],
    end: 'finished',
  });
  expect(attempt.hasCut()).toBe(true);
});

test('the first content waits for its checkpoint where others may end the hold', async () => {
  const booked = Promise.withResolvers<void>();
  const batches = [{ events: [] }, text(3), text(4)];
  const { attempt, seen } = setUp(batches, 4_096, 4_096, { booked: booked.promise });
  expect(await attempt.next()).toEqual({ events: [] });
  let passed: Batch | undefined;
  const first = attempt.next().then((batch) => {
    passed = batch;
  });
  while (seen.length < 2) await Bun.sleep(1);
  expect(passed).toBeUndefined();
  booked.resolve();
  await first;
  expect(passed).toEqual(text(3));
  expect(await attempt.next()).toEqual(text(4));
});

test.each([
  ['is refused', new LedgerRefusal('The hold has ended.')],
  ['finds no database', new LedgerUnavailable('away')],
])('where that checkpoint %s, nothing passes or is counted', async (_, error) => {
  const { attempt, inner } = setUp([text(300)], 4_096, 4_096, { booked: Promise.reject(error) });
  expect(await attempt.next()).toMatchObject({ events: [], end: { class: 'gateway' } });
  const { meter } = attempt;
  expect([inner.aborts(), meter.tokens(), meter.output()]).toEqual([1, 0, 'none']);
});

/** How an attempt failed, and whether its upstream had the request when we stopped it. */
const STOPPED: readonly [title: string, failure: UpstreamFailure, worked: boolean][] = [
  ['in the middle of its work', { ...GIVEN_UP, phase: 'first_byte' }, true],
  ['before its connection', UNCONNECTED, false],
  ['as it was refused', { ...GIVEN_UP, phase: 'first_content', status: 503 }, false],
  ['as its connection failed', { class: 'unreachable', detail: '' }, false],
  ['as its time was over', { class: 'timeout', phase: 'first_byte', detail: '' }, false],
  ['before it was written', { class: 'unsupported', detail: '' }, false],
];

test.each(STOPPED)('an upstream that is stopped %s', async (_, end, worked) => {
  const { attempt } = setUp([{ events: [], end }]);
  attempt.abort();
  await attempt.next();
  expect(attempt.hasWorked()).toBe(worked);
});

test('an upstream that fails, and is stopped after that', async () => {
  const { attempt } = setUp([{ events: [], end: { ...GIVEN_UP, phase: 'first_byte' } }]);
  await attempt.next();
  attempt.abort();
  expect(attempt.hasWorked()).toBe(false);
});

const TOO_LATE: UpstreamFailure = { class: 'timeout', detail: 'too late', phase: 'total' };

test('a whole answer whose time is over ends as one that was cut', async () => {
  const { attempt } = setUp([text(5), { events: [], end: TOO_LATE }], 4_096, 4_096, {
    isWhole: true,
  });
  await attempt.next();
  const { events, end } = await attempt.next();
  expect([events, end]).toEqual([[{ kind: 'finish', reason: 'length' }], 'finished']);
  expect(attempt.meter.finish()).toBe('length');
  expect([attempt.hasCut(), attempt.isLate()]).toEqual([false, true]);
});

test.each([
  ['of a stream', [text(5)], false],
  ['without content', [], true],
  ['of thinking alone', [thought(5)], true],
])('an answer %s has failed where its time is over', async (_name, before, isWhole) => {
  const { attempt } = setUp([...before, { events: [], end: TOO_LATE }], 4_096, 4_096, { isWhole });
  for (const _ of before) await attempt.next();
  expect((await attempt.next()).end).toEqual(TOO_LATE);
});

test('an answer that got less than half of its time has failed where it is over', async () => {
  for (const [share, end] of [
    [0.4, TOO_LATE],
    [0.6, 'finished'],
  ] as const) {
    const timeouts = { ...TIMEOUTS, totalMs: share * TIMEOUTS.totalMs };
    const { attempt } = setUp([text(5), { events: [], end: TOO_LATE }], 4_096, 4_096, {
      isWhole: true,
      timeouts,
    });
    await attempt.next();
    expect((await attempt.next()).end).toEqual(end);
  }
});
