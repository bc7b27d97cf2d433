// How upstreams do, put together out of what several threads know of them.

import { expect, test } from 'bun:test';
import { joinUpstreams, type UpstreamState } from '../../src/core/health.ts';

const OK: UpstreamState = {
  upstream: 'a',
  inFlight: 2,
  queued: 1,
  credentials: [{ id: '1', state: 'ok' }],
  models: [
    { model: 'swift', breaker: 'half_open', untilMs: 5 },
    { model: 'deep', breaker: 'closed' },
  ],
};

const BAD: UpstreamState = {
  ...OK,
  inFlight: 3,
  queued: 0,
  credentials: [{ id: '1', state: 'disabled', status: 401, untilMs: 9 }],
  models: [
    { model: 'swift', breaker: 'closed' },
    { model: 'deep', breaker: 'open', untilMs: 7 },
  ],
};

test('of several threads the counts are added up, and the worst that one of them knows is shown', () => {
  const other = { ...OK, upstream: 'b' };
  const joined = [
    {
      upstream: 'a',
      inFlight: 5,
      queued: 1,
      credentials: [{ id: '1', state: 'disabled', status: 401, untilMs: 9 }],
      models: [
        { model: 'swift', breaker: 'half_open', untilMs: 5 },
        { model: 'deep', breaker: 'open', untilMs: 7 },
      ],
    },
    other,
  ] as const;
  expect(joinUpstreams([[OK, other], [BAD], []])).toEqual(joined);
  expect(joinUpstreams([[BAD], [OK, other]])).toEqual(joined);
});
