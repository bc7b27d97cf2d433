// The record of a request: written once, after both its answer and its settlement.

import { expect, test } from 'bun:test';
import type { RequestSummary } from '../../src/core/request-summary.ts';
import { createTallies } from '../../src/http/tally.ts';
import { ANSWER } from '../observe/summaries.ts';

function rig() {
  const told: RequestSummary[] = [];
  let nowMs = 1_000;
  const tallies = createTallies({
    monotonic: () => nowMs,
    tell: (summary) => void told.push(summary),
  });
  const tally = tallies.start('req_1', 'messages', 'messages');
  nowMs = 1_040;
  const wait = (ms: number): void => {
    nowMs += ms;
  };
  return { tallies, tally, told, wait };
}

const WHO = { accountId: 'acct_1', keyId: 'key_1', plan: 'pro' };
const BASE = { requestId: 'req_1', route: 'messages', format: 'messages' } as const;

test('a refusal before anything is known', () => {
  const { tally, told } = rig();
  tally.answered(401, 'missing_api_key');
  expect(told).toEqual([{ ...BASE, status: 401, code: 'missing_api_key', durationMs: 40 }]);
});

test('a refusal of a known account, with the ids alone', () => {
  const { tally, told } = rig();
  tally.identified(WHO);
  tally.understood('swift-1', true);
  tally.answered(429, 'rate_limit_exceeded');
  expect(told).toEqual([
    {
      ...BASE,
      status: 429,
      code: 'rate_limit_exceeded',
      accountId: 'acct_1',
      keyId: 'key_1',
      model: 'swift-1',
      stream: true,
      durationMs: 40,
    },
  ]);
});

test('a whole answer is settled first', () => {
  const { tally, told, tallies } = rig();
  tally.ended(ANSWER);
  expect([told, tallies.openStreams()]).toEqual([[], 0]);
  tally.answered(200);
  expect(told).toEqual([{ ...BASE, status: 200, durationMs: 40, answer: ANSWER }]);
});

test('a stream is recorded when it is settled, whichever comes first', () => {
  const late = rig();
  late.tally.streaming(200);
  expect([late.told, late.tallies.openStreams()]).toEqual([[], 1]);
  late.wait(500);
  late.tally.ended(ANSWER);
  expect(late.told).toEqual([{ ...BASE, status: 200, durationMs: 540, answer: ANSWER }]);
  expect(late.tallies.openStreams()).toBe(0);

  const early = rig();
  early.tally.ended(ANSWER);
  early.tally.streaming(200);
  expect(early.told).toEqual([{ ...BASE, status: 200, durationMs: 40, answer: ANSWER }]);
  expect(early.tallies.openStreams()).toBe(0);
});
