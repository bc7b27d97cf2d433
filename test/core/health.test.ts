// The states of upstreams and models that the console shows agree with each other.

import { expect, test } from 'bun:test';
import {
  countUpstreams,
  modelState,
  placeState,
  type UpstreamState,
  upstreamState,
  withLastAttempts,
} from '../../src/core/health.ts';

type Place = UpstreamState['models'][number];

const place = (model: string, facts: Partial<Place> = {}): Place => ({
  ...{ model, breaker: 'closed' },
  ...facts,
});

const upstream = (models: readonly Place[], isOk = true): UpstreamState => ({
  ...{ upstream: 'east', inFlight: 0, queued: 0, models },
  credentials: [{ id: '1', state: isOk ? 'ok' : 'disabled' }],
});

test('a place is healthy only if it answered lately, its breaker is closed and its last attempts did not fail', () => {
  expect([
    placeState(undefined),
    placeState(place('a')),
    placeState(place('a', { answered: true })),
    placeState(place('a', { answered: true, breaker: 'half_open' })),
    placeState(place('a', { breaker: 'open' })),
    placeState(place('a', { trouble: 'failing' })),
    placeState(place('a', { answered: true, trouble: 'degraded' })),
    placeState(place('a', { breaker: 'open', disabled: true })),
  ]).toEqual(['idle', 'idle', 'healthy', 'failing', 'failing', 'failing', 'degraded', 'disabled']);
});

test('a model is down if none of its places serves, and degraded if some do not', () => {
  expect([
    modelState(['healthy', 'idle']),
    modelState(['idle', 'idle']),
    modelState(['healthy', 'failing']),
    modelState(['degraded']),
    modelState(['failing', 'disabled']),
    modelState([]),
  ]).toEqual(['healthy', 'idle', 'degraded', 'degraded', 'down', 'down']);
});

test('an upstream is as healthy as its models and credentials, and counted once', () => {
  const failing = place('b', { breaker: 'half_open' });
  const well = place('c', { answered: true });
  const states = [
    upstream([well, place('a')]),
    upstream([well, failing]),
    upstream([failing]),
    upstream([failing, place('a', { disabled: true })]),
    upstream([place('a', { disabled: true })]),
    upstream([well], false),
    upstream([place('a')]),
    upstream([]),
  ];
  expect(states.map(upstreamState)).toEqual([
    ...(['healthy', 'degraded', 'down', 'down', 'disabled', 'down', 'idle', 'idle'] as const),
  ]);
  expect(countUpstreams(states)).toEqual({
    ...{ healthy: 1, idle: 2, degraded: 1, down: 3, disabled: 1 },
  });
});

test('the last attempts count for their own model', () => {
  const isIt = (id: string, model: string) => id === 'east' && model === 'b';
  const [found] = withLastAttempts([upstream([place('a'), place('b'), place('c')])], {
    trouble: (id, model) => (isIt(id, model) ? 'failing' : undefined),
    answered: (_, model) => model === 'c',
  });
  expect(found?.models.map(placeState)).toEqual(['idle', 'failing', 'healthy']);
});
