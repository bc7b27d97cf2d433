// The record of each attempt: what is known of it, its usage as reported or as counted, and its
// cost to the operator.

import { expect, test } from 'bun:test';
import type { UpstreamFailure } from '../../src/core/failure.ts';
import type { Usage, UsageReport } from '../../src/core/generation.ts';
import { pico } from '../../src/core/money.ts';
import type { Candidate } from '../../src/core/route.ts';
import { AttemptLog, type LoggedAttempt } from '../../src/generate/attempt-log.ts';
import { OutputMeter } from '../../src/generate/meter.ts';
import { candidate, HELLO, listedAttempt } from './fixtures.ts';

const COST = {
  version: 'c',
  input: pico(10n ** 11n),
  cachedInput: pico(0n),
  cacheWrite: pico(0n),
  output: pico(10n ** 12n),
};
const REPORTED: Usage = {
  inputTokens: 20,
  cachedInputTokens: 10,
  cacheWriteTokens: 0,
  outputTokens: 5,
  reasoningTokens: 2,
  basis: 'reported',
};
const BROKEN: UpstreamFailure = {
  class: 'server_error',
  phase: 'stream',
  status: 500,
  detail: 'it broke',
  retryAfterMs: 9,
};

function setUp() {
  let nowMs = 0;
  const heard: unknown[] = [];
  const log = new AttemptLog({
    clock: () => {
      nowMs += 5;
      return nowMs;
    },
    promptTokens: 7,
    requestId: 'req_1',
    heard: (words) => void heard.push(words),
  });
  return { log, heard };
}

type Facts = { readonly text?: boolean; readonly report?: UsageReport };

function attemptOf(of: Candidate, { text = false, report }: Facts = {}) {
  const meter = new OutputMeter((words) => words.length);
  if (text) meter.push(HELLO);
  const attempt: LoggedAttempt = {
    ...listedAttempt(of, []),
    credential: '2',
    times: () => ({ firstByteMs: 1.2345, ...(text ? { firstContentMs: 3.06 } : {}) }),
    meter,
  };
  const tell = (usage: UsageReport): void => meter.push({ kind: 'usage', usage });
  if (report !== undefined) tell(report);
  return { attempt, tell };
}

const WHO = { upstream: 'a', model: 'a', upstreamModel: 'a' };
const TRIED = { ...WHO, credential: '2', startedAt: 0, endedAt: 5, firstByteMs: 1.2 };

test('one that served: when, what it used, what that costs', () => {
  const { log } = setUp();
  const { attempt } = attemptOf(
    { ...candidate('a'), cost: COST },
    { text: true, report: REPORTED },
  );
  log.add(attempt, undefined);
  // Ten tokens of the prompt at 0.1 and five of output at 1.
  expect(log.records).toEqual([{ ...TRIED, firstContentMs: 3.1, usage: REPORTED, cost: '6' }]);
});

test('one that failed: where and how', () => {
  const { log } = setUp();
  log.add(attemptOf(candidate('a')).attempt, BROKEN);
  expect(log.records).toEqual([
    { ...TRIED, failure: 'server_error', phase: 'stream', status: 500, detail: 'it broke' },
  ]);
});

test.each<readonly [string, Facts]>([
  ['reported nothing', { text: true }],
  ['reported nonsense', { text: true, report: { basis: 'rejected', doubt: 'malformed' } }],
])('one that delivered and %s: our own count', (_, facts) => {
  const { log } = setUp();
  log.add(attemptOf({ ...candidate('a'), cost: COST }, facts).attempt, BROKEN);
  expect(log.records[0]).toMatchObject({
    usage: { inputTokens: 7, outputTokens: 5, basis: 'estimated' },
    cost: '5.7',
  });
});

test('one that delivered nothing and reported nonsense used nothing that is known', () => {
  const { log } = setUp();
  const report = { basis: 'rejected', doubt: 'malformed' } as const;
  log.add(attemptOf({ ...candidate('a'), cost: COST }, { report }).attempt, BROKEN);
  expect(Object.keys(log.records[0] ?? {})).not.toContain('usage');
});

test('without a cost in the catalog there is none', () => {
  const { log } = setUp();
  log.add(attemptOf(candidate('a'), { report: REPORTED }).attempt, undefined);
  expect(log.records[0]?.usage).toEqual(REPORTED);
  expect(log.records[0]?.cost).toBeUndefined();
});

test('what is reported after the end is in the record', () => {
  const { log } = setUp();
  const { attempt, tell } = attemptOf(candidate('a'));
  log.add(attempt, { class: 'cut', detail: 'the request was given up' });
  expect(log.records[0]?.usage).toBeUndefined();
  tell(REPORTED);
  expect(log.records[0]?.usage).toEqual(REPORTED);
  expect(log.records[0]?.endedAt).toBe(5);
});

test('one that was not asked: whom, and why not', () => {
  const { log } = setUp();
  log.skip(candidate('a'), { class: 'no_capacity', detail: 'it is left alone' });
  expect(log.records).toEqual([
    { ...WHO, startedAt: 5, endedAt: 5, failure: 'no_capacity', detail: 'it is left alone' },
  ]);
});

test('what an upstream said of a failure goes to operators, and not into the record', () => {
  const { log, heard } = setUp();
  const said = { code: 'model_not_found', message: 'No such model' };
  log.add(attemptOf(candidate('a')).attempt, { ...BROKEN, said });
  log.add(attemptOf(candidate('b')).attempt, { class: 'timeout', detail: 'too late' });
  expect(heard).toEqual([
    {
      upstream: 'a',
      model: 'a',
      failure: BROKEN.class,
      status: 500,
      words: '500 model_not_found: No such model',
      requestId: 'req_1',
      at: 5,
    },
  ]);
  expect(JSON.stringify(log.records)).not.toContain('model_not_found');
});
