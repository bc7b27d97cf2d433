// What a server keeps about its last hours: how events are counted, and that memory stays bounded.

import { expect, test } from 'bun:test';
import { micro } from '../../src/core/money.ts';
import type { AttemptSummary, RequestSummary } from '../../src/core/request-summary.ts';
import { NO_USAGE } from '../../src/core/usage.ts';
import { createActivity } from '../../src/observe/activity.ts';

const MINUTE = 60_000;

function rig() {
  let now = 100 * MINUTE;
  const activity = createActivity({ clock: () => now });
  const pass = (ms: number): void => {
    now += ms;
  };
  return { activity, pass };
}

const REFUSED: RequestSummary = {
  requestId: 'req_1',
  route: 'chat_completions',
  format: 'chat',
  status: 429,
  durationMs: 1,
};

const USAGE = { ...NO_USAGE, inputTokens: 10, outputTokens: 5, basis: 'reported' } as const;

function answered(attempts: readonly AttemptSummary[], more: Partial<RequestSummary> = {}) {
  const upstream = attempts.at(-1)?.upstream;
  const answer: RequestSummary['answer'] = {
    modelServed: 'swift-1',
    ...(upstream === undefined ? {} : { upstream }),
    fallbackUsed: false,
    outcome: 'completed',
    usage: USAGE,
    promptTokens: 10,
    debited: micro(7n),
    loss: micro(0n),
    attempts,
  };
  return { ...REFUSED, status: 200, answer, ...more } satisfies RequestSummary;
}

const attempt = (upstream: string, more: Partial<AttemptSummary> = {}): AttemptSummary => ({
  upstream,
  model: 'swift-1',
  credential: '1',
  startedAt: 1_000,
  endedAt: 1_250,
  ...more,
});

test('each generation counts for its minute and for its end, other routes for nothing', () => {
  const { activity, pass } = rig();
  activity.request(REFUSED);
  pass(MINUTE);
  activity.request({ ...REFUSED, route: 'models' });
  activity.request({ ...REFUSED, route: 'playground_messages' });
  activity.request({ ...REFUSED, status: 499 });
  activity.request({ ...REFUSED, status: 503 });
  activity.request({ ...REFUSED, status: 503, code: 'maintenance_mode' });
  activity.request(answered([attempt('a')]));
  const { answer } = answered([attempt('a')]);
  if (answer === undefined) throw new Error('no answer');
  activity.request({ ...REFUSED, status: 200, answer: { ...answer, outcome: 'upstream_failed' } });
  const none = {
    requests: 0,
    ok: 0,
    refused: 0,
    failed: 0,
    cancelled: 0,
    inputTokens: 0,
    outputTokens: 0,
    debited: micro(0n),
  };
  expect(activity.minutes(3)).toEqual([
    { ...none, at: 99 * MINUTE },
    { ...none, at: 100 * MINUTE, requests: 1, refused: 1 },
    {
      at: 101 * MINUTE,
      requests: 6,
      ok: 1,
      refused: 2,
      failed: 2,
      cancelled: 1,
      inputTokens: 20,
      outputTokens: 10,
      debited: micro(14n),
    },
  ]);
});

test('attempts count for their upstream; who was not asked has not failed', () => {
  const { activity } = rig();
  const { credential: _, ...skipped } = attempt('c', { failure: 'no_capacity' });
  activity.request(answered([attempt('a', { failure: 'timeout' }), skipped, attempt('b')]));
  const last = (upstream: string) => activity.upstreamMinutes(upstream, 1)[0];
  expect([last('a'), last('b'), last('c')]).toEqual([
    { at: 100 * MINUTE, attempts: 1, failed: 1, outputTokens: 0 },
    { at: 100 * MINUTE, attempts: 1, failed: 0, outputTokens: 5 },
    { at: 100 * MINUTE, attempts: 0, failed: 0, outputTokens: 0 },
  ]);
  expect(activity.failures('a')).toEqual([
    {
      at: 1_250,
      requestId: 'req_1',
      model: 'swift-1',
      credential: '1',
      failure: 'timeout',
      durationMs: 250,
    },
  ]);
  expect(activity.failures('b')).toEqual([]);
});

test('only so much is kept, the newest first', () => {
  const { activity, pass } = rig();
  for (let turn = 0; turn < 300; turn += 1) {
    const failed = attempt('a', { failure: 'server_error' });
    activity.request(answered([failed], { requestId: `req_${turn}` }));
    pass(MINUTE);
  }
  expect(activity.minutes(1_000)).toHaveLength(180);
  expect(
    activity
      .failures('a')
      .map(({ requestId }) => requestId)
      .slice(0, 2),
  ).toEqual(['req_299', 'req_298']);
  expect(activity.failures('a')).toHaveLength(50);
});

test('the worst lag of the event loop is that of the last minutes', () => {
  const { activity, pass } = rig();
  activity.loopLag(0.02);
  activity.loopLag(0.001);
  expect(activity.loopLagMs()).toBe(20);
  pass(2 * MINUTE);
  expect(activity.loopLagMs()).toBe(0);
});
