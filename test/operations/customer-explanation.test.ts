// The explanation of a request for its customer: all of the money, no internals.

import { expect, test } from 'bun:test';
import { tokenCount, usdRate } from '../../src/core/money.ts';
import type { Books } from '../../src/ledger/books.ts';
import { customerExplanation } from '../../src/operations/customer-explanation.ts';
import { OperationError } from '../../src/operations/error.ts';
import { explanation } from '../../src/operations/explanation.ts';
import { explainToCustomer } from '../../src/operations/requests.ts';
import { PRICE, recorded, SETTLED, T0, TERMS, UNDER_WAY } from './stories.ts';

const ATTEMPTS = [
  { upstream: 'SECRET-1', model: 'swift-1', startedAt: T0, endedAt: T0, failure: 'no_capacity' },
  {
    upstream: 'SECRET-2',
    model: 'swift-1',
    upstreamModel: 'SECRET/model',
    credential: 'SECRET-3',
    startedAt: T0 + 1,
    endedAt: T0 + 900,
    failure: 'server_error',
    phase: 'first_byte',
    status: 500,
    detail: 'SECRET words',
    cost: '777.25',
  },
  {
    upstream: 'SECRET-4',
    model: 'swift-0',
    upstreamModel: 'SECRET/model-0',
    credential: '1',
    startedAt: T0 + 900,
    endedAt: T0 + 5_000,
    firstByteMs: 20,
    firstContentMs: 50.4,
    cost: '888.5',
  },
];

const STORY = recorded({
  modelServed: 'swift-0',
  upstream: 'SECRET-4',
  rawUsage: '{"SECRET":1}',
  usageDoubt: 'implausible',
  usageBasis: 'estimated',
  endUser: 'user-7',
  attempts: JSON.stringify(ATTEMPTS),
});

test('a request that a fallback served, with everything that concerns its customer', () => {
  expect(customerExplanation(STORY, TERMS)).toEqual({
    request_id: 'req_1',
    key_id: 'key_1',
    model: { requested: 'swift-1', served: 'swift-0' },
    fallback_used: true,
    attempts: 2,
    hold: {
      phase: 'settled',
      estimated_prompt_tokens: tokenCount(10),
      output_bound: tokenCount(32_000),
      first_amount: '8204.5',
      grown_by: '8192',
      amount: '16396.5',
      price_version: PRICE.version,
      created_at: '2026-11-21T08:00:00.000Z',
      ended_at: '2026-11-21T08:00:05.000Z',
    },
    request: {
      format: 'chat',
      stream: true,
      outcome: 'completed',
      end_user: 'user-7',
      started_at: '2026-11-21T08:00:00.000Z',
      ended_at: '2026-11-21T08:00:05.000Z',
      first_content_ms: 950,
    },
    problem: null,
    usage: {
      basis: 'estimated',
      input_tokens: 20,
      cached_input_tokens: 10,
      cache_write_tokens: 4,
      output_tokens: 5_000,
      reasoning_tokens: 7,
      doubt: 'implausible',
    },
    calculations: explanation(STORY, TERMS).calculations,
    booked: {
      charged: '10012',
      debited: '10000',
      debited_usd: '0.01',
      waived: '12',
      balance_after: '0',
    },
    receipt: { sequence: 3, hash: 'ab'.repeat(32) },
  });
});

test('states dollars by the rate that the request was settled at, as its answer and receipt do', () => {
  const story = recorded({ usdPerMillion: usdRate(2_500_000n) });
  expect(customerExplanation(story, TERMS).booked?.debited_usd).toBe('0.025');
});

test('no name, cost or word of an upstream is anywhere in it, wherever the books have one', () => {
  const story = {
    ...STORY,
    hold: { ...STORY.hold, upstream: 'SECRET-4' },
  };
  const text = JSON.stringify(customerExplanation(story, TERMS));
  for (const secret of ['SECRET', '777.25', '888.5', 'server_error', 'operator:']) {
    expect(JSON.stringify(explanation(story, TERMS))).toContain(secret);
    expect(text).not.toContain(secret);
  }
});

test('a request in progress has its hold, and nothing is charged yet', () => {
  const { hold, ...rest } = customerExplanation(UNDER_WAY, TERMS);
  expect(hold.phase).toBe('held');
  expect(rest).toEqual({
    request_id: 'req_1',
    key_id: 'key_1',
    model: { requested: 'swift-1', served: null },
    fallback_used: false,
    attempts: 0,
    request: null,
    problem: null,
    usage: null,
    calculations: [],
    booked: null,
    receipt: null,
  });
});

test('an answer that was settled without a time of its first content has none', () => {
  expect(customerExplanation(SETTLED, TERMS).request?.first_content_ms).toBeNull();
});

test('a request of another account is answered as one that never was', async () => {
  const books = {
    explain: async (id: string) => (id === 'req_1' ? SETTLED : undefined),
  } as Books;
  const codeOf = async (accountId: string, requestId: string) => {
    try {
      return (await explainToCustomer(books, TERMS, accountId, requestId)).request_id;
    } catch (error) {
      return error instanceof OperationError ? [error.code, error.message] : error;
    }
  };
  expect(await codeOf('acct_ann', 'req_1')).toBe('req_1');
  expect(await codeOf('acct_bob', 'req_1')).toEqual(await codeOf('acct_bob', 'req_none'));
});
