// How unhealthy upstreams are reported to the operator and to the public.

import { expect, test } from 'bun:test';
import { type UpstreamState, withDisabled } from '../../src/core/health.ts';
import { upstreamCounts, upstreamWarnings } from '../../src/core/readiness.ts';

const WELL: UpstreamState = {
  upstream: 'alpha',
  inFlight: 3,
  queued: 0,
  credentials: [{ id: '1', state: 'ok' }],
  models: [{ model: 'swift-1', breaker: 'closed' }],
};

const BADLY: UpstreamState = {
  upstream: 'beta',
  inFlight: 0,
  queued: 2,
  credentials: [
    { id: '1', state: 'disabled', status: 401, untilMs: 5 },
    { id: '2', state: 'disabled' },
    { id: '3', state: 'ok' },
  ],
  models: [
    { model: 'swift-1', breaker: 'open', untilMs: 9 },
    { model: 'swift-2', breaker: 'half_open' },
    { model: 'swift-3', breaker: 'closed' },
  ],
};

test('nothing is said of what does well', () => {
  expect(upstreamWarnings([], 'operator')).toEqual([]);
  expect(upstreamWarnings([WELL], 'operator')).toEqual([]);
  expect(upstreamWarnings([WELL], 'public')).toEqual([]);
  expect(upstreamCounts([WELL])).toEqual({
    upstreams: 1,
    credentialsDisabled: 0,
    breakersOpen: 0,
  });
});

test('the operator sees the names', () => {
  expect(upstreamWarnings([WELL, BADLY], 'operator')).toEqual([
    'upstream beta refuses credential 1 (status 401)',
    'upstream beta refuses credential 2',
    'upstream beta fails for swift-1',
    'upstream beta fails for swift-2',
  ]);
});

test('everyone else sees how many', () => {
  const warnings = upstreamWarnings([WELL, BADLY], 'public');
  expect(warnings).toEqual(['2 × upstream credential refused', '2 × model failing at an upstream']);
  expect(warnings.join()).not.toMatch(/beta|swift/);
  expect(upstreamCounts([WELL, BADLY])).toEqual({
    upstreams: 2,
    credentialsDisabled: 2,
    breakersOpen: 2,
  });
});

test('what the operator has taken out of service is reported, once for a whole upstream', () => {
  const isDisabled = (upstream: string, model: string) =>
    upstream === 'alpha' || model === 'swift-3';
  const states = withDisabled([WELL, { ...BADLY, credentials: [] }], isDisabled);
  expect(upstreamWarnings(states, 'operator')).toEqual([
    'upstream alpha is out of service',
    'upstream beta fails for swift-1',
    'upstream beta fails for swift-2',
    'upstream beta is out of service for swift-3',
  ]);
  expect(upstreamWarnings(states, 'public')).toEqual([
    '2 × model failing at an upstream',
    '2 × model out of service at an upstream',
  ]);
  expect(states[1]?.models[2]).toEqual({ model: 'swift-3', breaker: 'closed', disabled: true });
});
