// Which attempt serves: the first that delivers, no attempt after a caller's own mistake or after
// the client has left, and a record of every one that failed.

import { expect, test } from 'bun:test';
import type { Alert } from '../../src/core/alert.ts';
import type { FailureClass } from '../../src/core/failure.ts';
import type { GenerationRequest } from '../../src/core/generation.ts';
import { createAttemptLog } from '../../src/generate/attempt-log.ts';
import { type Routed, route } from '../../src/generate/route.ts';
import type { Attempt, Batch } from '../../src/upstream/attempt.ts';
import { CUT, candidate, FINISH, HELLO, type ListedAttempt, listedAttempt } from './parts.ts';

const REQUEST: GenerationRequest = {
  model: 'a',
  system: '',
  turns: [],
  stop: [],
  tools: [],
  json: false,
  stream: true,
  includeUsage: true,
};

type Options = {
  readonly until?: 'content' | 'end';
  readonly tellsExhaustion?: boolean;
  readonly silentCommitMs?: number;
  readonly cancelled?: () => boolean;
  readonly onAttempt?: (attempt: Attempt) => void;
};

/** Candidates named a, b, c, … that give these batches. */
async function run(all: readonly (readonly Batch[])[], options: Options = {}) {
  const started: ListedAttempt[] = [];
  const alerts: Alert[] = [];
  const attempts = createAttemptLog({
    clock: () => 5,
    alert: (alert) => void alerts.push(alert),
    promptTokens: 10,
  });
  const routed: Routed<ListedAttempt> = await route({
    startAttempt: (attempt) => {
      const listed = listedAttempt(attempt.candidate, all[started.length] ?? []);
      started.push(listed);
      options.onAttempt?.(listed);
      return listed;
    },
    candidates: all.map((_, index) => candidate('abcdef'[index] ?? '', index > 0)),
    request: REQUEST,
    maxOutputTokens: 100,
    streamUpstream: true,
    until: options.until ?? 'content',
    tellsExhaustion: options.tellsExhaustion ?? true,
    silentCommitMs: options.silentCommitMs ?? 60_000,
    cancelled: options.cancelled ?? (() => false),
    attempts,
  });
  const served = routed.kind === 'serving' ? routed.attempt.candidate.model.slug : undefined;
  return { routed, served, records: attempts.records, started, alerts };
}

const fails = (kind: FailureClass): Batch => ({ events: [], end: { class: kind, detail: kind } });
const DELIVERS: Batch = { events: [HELLO] };

test('the first that delivers serves, and nobody else is asked', async () => {
  const { routed, served, started, records } = await run([[DELIVERS], [DELIVERS]]);
  expect([served, started.length, records.length]).toEqual(['a', 1, 0]);
  if (routed.kind !== 'serving') throw new Error('not serving');
  expect(await routed.first).toEqual(DELIVERS);
});

test('a credential that is refused is told to the operator, also where another one serves', async () => {
  const { served, alerts } = await run([[fails('credential')], [DELIVERS]]);
  expect(served).toBe('b');
  expect(alerts).toEqual([{ kind: 'credential_refused', upstream: 'a', credential: '1' }]);
});

test.each<FailureClass>([
  'timeout',
  'overloaded',
  'credential',
  'server_error',
  'malformed',
  'cut',
])('after %s the next one is asked, and the failure is recorded', async (kind) => {
  const { served, records } = await run([[fails(kind)], [DELIVERS]]);
  expect(served).toBe('b');
  expect(records).toEqual([
    {
      upstream: 'a',
      model: 'a',
      upstreamModel: 'a',
      credential: '1',
      startedAt: 0,
      endedAt: 5,
      failure: kind,
      detail: kind,
    },
  ]);
});

test('one that cannot be reached is asked once more on a new connection, and only once', async () => {
  const closed = fails('unreachable');
  const again = await run([[closed], [DELIVERS]]);
  expect([again.served, again.started.map((each) => each.candidate.model.slug)]).toEqual([
    'a',
    ['a', 'a'],
  ]);
  const gone = await run([[closed], [closed], [DELIVERS]]);
  expect([gone.served, gone.records.map((each) => each.model)]).toEqual(['b', ['a', 'a']]);
});

test.each<FailureClass>(['bad_request', 'context_length'])(
  'after %s nobody else is asked: it would fail there too',
  async (kind) => {
    const { routed, started } = await run([[fails(kind)], [DELIVERS]]);
    expect(routed).toEqual({ kind: 'failed', failure: { class: kind, detail: kind } });
    expect(started.length).toBe(1);
  },
);

test('at most four are asked, and the last failure is the one that is told', async () => {
  const { routed, started } = await run([
    [fails('cut')],
    [fails('cut')],
    [fails('cut')],
    [fails('timeout')],
    [DELIVERS],
  ]);
  expect(routed).toEqual({ kind: 'failed', failure: { class: 'timeout', detail: 'timeout' } });
  expect(started.length).toBe(4);
});

test('no candidate at all is a failure, not an answer', async () => {
  const { routed } = await run([]);
  expect(routed).toMatchObject({ kind: 'failed', failure: { class: 'unreachable' } });
});

test('a failure after content is not routed: what was read is served', async () => {
  const { routed, served } = await run([[DELIVERS, { events: [], end: CUT }], [DELIVERS]]);
  expect(served).toBe('a');
  if (routed.kind !== 'serving') throw new Error('not serving');
  expect(await routed.first).toEqual(DELIVERS);
});

test('a failure in the same read as content goes to the next: nothing was sent yet', async () => {
  const { served } = await run([[{ events: [HELLO], end: CUT }], [DELIVERS]]);
  expect(served).toBe('b');
});

test('where only a whole answer will do, content that breaks off goes to the next', async () => {
  const whole: Batch = { events: [HELLO, FINISH], end: 'finished' };
  const broken: Batch[] = [DELIVERS, { events: [], end: CUT }];
  const { routed, served } = await run([broken, [DELIVERS, whole]], { until: 'end' });
  expect(served).toBe('b');
  if (routed.kind !== 'serving') throw new Error('not serving');
  expect(await routed.first).toEqual({ events: [HELLO, HELLO, FINISH], end: 'finished' });
});

test('usage alone is not content, a finish is an answer', async () => {
  const usage = {
    inputTokens: 1,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 0,
    reasoningTokens: 0,
    basis: 'reported',
  } as const;
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
  const { served, records, started } = await run([[exhausted], [DELIVERS]]);
  expect([served, records[0]?.failure, started[0]?.aborts()]).toEqual(['b', 'overloaded', 1]);
  const late: Batch = { ...exhausted, events: [HELLO, ...exhausted.events] };
  expect((await run([[late], [DELIVERS]])).served).toBe('a');
});

test('a silent upstream is committed to, with its events still to come', async () => {
  const { routed, served, started } = await run([[], [DELIVERS]], { silentCommitMs: 5 });
  expect([served, started.length]).toEqual(['a', 1]);
  started[0]?.abort();
  if (routed.kind !== 'serving') throw new Error('not serving');
  expect((await routed.first).end).toEqual(CUT);
});

test('a client that leaves ends it: the attempt is recorded and nobody else is asked', async () => {
  let gone = false;
  const { routed, started, records } = await run([[], [DELIVERS]], {
    cancelled: () => gone,
    onAttempt: (attempt) => {
      setImmediate(() => {
        gone = true;
        attempt.abort();
      });
    },
  });
  expect([routed.kind, started.length, records[0]?.failure]).toEqual(['cancelled', 1, 'cut']);
});
