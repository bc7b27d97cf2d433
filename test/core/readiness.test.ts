// How unhealthy upstreams are reported to the operator and to the public.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { placeState, type UpstreamState, withDisabled } from '../../src/core/health.ts';
import { upstreamCounts, upstreamWarnings } from '../../src/core/readiness.ts';
import { wordsOf } from '../../src/core/sentence.ts';

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

const wordsFor = (audience: 'operator' | 'public', states: readonly UpstreamState[]) =>
  upstreamWarnings(states, audience).map(wordsOf);

test('nothing is said of what does well', () => {
  expect(wordsFor('operator', [])).toEqual([]);
  expect(wordsFor('operator', [WELL])).toEqual([]);
  expect(wordsFor('public', [WELL])).toEqual([]);
  expect(upstreamCounts([WELL])).toEqual({
    upstreams: 1,
    credentialsDisabled: 0,
    breakersOpen: 0,
  });
});

test('the operator sees the names', () => {
  expect(wordsFor('operator', [WELL, BADLY])).toEqual([
    'upstream beta refuses credential 1 (status 401)',
    'upstream beta refuses credential 2',
    'upstream beta fails for swift-1',
    'upstream beta fails for swift-2',
  ]);
});

test('everyone else sees how many', () => {
  const warnings = wordsFor('public', [WELL, BADLY]);
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
  expect(wordsFor('operator', states)).toEqual([
    'upstream alpha is out of service',
    'upstream beta fails for swift-1',
    'upstream beta fails for swift-2',
    'upstream beta is out of service for swift-3',
  ]);
  expect(wordsFor('public', states)).toEqual([
    '2 × model failing at an upstream',
    '2 × model out of service at an upstream',
  ]);
  expect(states[1]?.models[2]).toEqual({ model: 'swift-3', breaker: 'closed', disabled: true });
});

test('an upstream has a warning, with a link to it, for what is no fault of clients', () => {
  const facts = fc.record({
    ...{ model: fc.string(), breaker: fc.constantFrom('closed', 'open', 'half_open') },
    ...{ trouble: fc.constantFrom('failing', 'degraded', undefined), answered: fc.boolean() },
    disabled: fc.boolean(),
  });
  const place = facts.map(({ model, breaker, trouble, answered, disabled }) => ({
    ...{ model, breaker, ...(trouble && { trouble }) },
    ...(answered && { answered: true as const }),
    ...(disabled && { disabled: true as const }),
  }));
  const credential = fc.record({ id: fc.string(), state: fc.constantFrom('ok', 'disabled') });
  const state = fc.record({
    ...{ upstream: fc.string(), inFlight: fc.nat(), queued: fc.nat() },
    ...{ credentials: fc.array(credential, { minLength: 1 }), models: fc.array(place) },
  });
  fc.assert(
    fc.property(state, (each) => {
      const isWell =
        each.credentials.every((one) => one.state === 'ok') &&
        each.models.every((one) => !['failing', 'disabled'].includes(placeState(one)));
      const warnings = upstreamWarnings([each], 'operator');
      expect(warnings.length === 0).toBe(isWell);
      const pages = new Set(warnings.map(({ about }) => about));
      expect([...pages]).toEqual(isWell ? [] : [`upstreams/${each.upstream}`]);
    }),
  );
});
