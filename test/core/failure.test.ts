// What the caller receives for each class of failure, and what the operator's probe says of
// upstreams.

import { expect, test } from 'bun:test';
import { FAILURES, type FailureClass, failureError } from '../../src/core/failure.ts';
import { upstreamRecords } from '../../src/core/readiness.ts';

const TOLD: Partial<Record<FailureClass, readonly (number | string | undefined)[]>> = {
  bad_request: [400, 'invalid_request', undefined],
  content_policy: [400, 'invalid_request', undefined],
  too_large: [413, 'payload_too_large', undefined],
  unsupported: [400, 'invalid_request', 'messages'],
  context_length: [400, 'context_length_exceeded', 'messages'],
};

test.each(Object.keys(FAILURES) as FailureClass[])('the caller receives %s', (kind) => {
  const { status, code, param } = failureError({ class: kind, detail: 'ours alone' });
  expect([status, code, param]).toEqual([
    ...(TOLD[kind] ?? [503, 'provider_unavailable', undefined]),
  ]);
});

test('the retry time while every upstream is skipped is in whole seconds, from one to sixty', () => {
  const waits = [undefined, 1, 1_000, 1_001, 59_001, 900_000].map(
    (retryAfterMs) =>
      failureError(
        { class: 'no_capacity', detail: 'left alone' },
        retryAfterMs === undefined ? {} : { retryAfterMs },
      ).retryAfterSeconds,
  );
  expect(waits).toEqual([undefined, 1, 1, 2, 60, 60]);
});

test('an upstream is shown with the instants at which it is tried again', () => {
  const state = {
    upstream: 'a',
    inFlight: 1,
    queued: 2,
    credentials: [{ id: '1', state: 'disabled', status: 401, untilMs: 0 }],
    models: [
      { model: 'x', breaker: 'open', untilMs: 1_000 },
      { model: 'y', breaker: 'closed' },
    ],
  } as const;
  expect(upstreamRecords([state])).toEqual([
    {
      upstream: 'a',
      in_flight: 1,
      queued: 2,
      credentials: [{ id: '1', state: 'disabled', status: 401, until: '1970-01-01T00:00:00.000Z' }],
      models: [
        { model: 'x', breaker: 'open', until: '1970-01-01T00:00:01.000Z' },
        { model: 'y', breaker: 'closed' },
      ],
    },
  ]);
});
