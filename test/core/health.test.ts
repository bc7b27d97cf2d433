// The states of upstreams and models that the console shows agree with each other.

import { expect, test } from 'bun:test';
import {
  modelState,
  placeState,
  type UpstreamState,
  upstreamState,
  withTrouble,
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

test('a place is healthy only if its breaker is closed and its last attempts did not fail', () => {
  expect([
    placeState(undefined),
    placeState(place('a')),
    placeState(place('a', { breaker: 'half_open' })),
    placeState(place('a', { breaker: 'open' })),
    placeState(place('a', { trouble: 'failing' })),
    placeState(place('a', { trouble: 'degraded' })),
    placeState(place('a', { breaker: 'open', disabled: true })),
  ]).toEqual(['healthy', 'healthy', 'failing', 'failing', 'failing', 'degraded', 'disabled']);
});

test('a model is down if none of its places serves, and degraded if some do not', () => {
  expect([
    modelState(['healthy', 'healthy']),
    modelState(['healthy', 'failing']),
    modelState(['degraded']),
    modelState(['failing', 'disabled']),
    modelState([]),
  ]).toEqual(['healthy', 'degraded', 'degraded', 'down', 'down']);
});

test('an upstream is as healthy as its models and credentials', () => {
  const failing = place('b', { breaker: 'half_open' });
  expect([
    upstreamState(upstream([place('a')])),
    upstreamState(upstream([place('a'), failing])),
    upstreamState(upstream([failing])),
    upstreamState(upstream([failing, place('a', { disabled: true })])),
    upstreamState(upstream([place('a', { disabled: true })])),
    upstreamState(upstream([place('a')], false)),
    upstreamState(upstream([])),
  ]).toEqual(['healthy', 'degraded', 'down', 'down', 'disabled', 'down', 'healthy']);
});

test('the last attempts count for their own model', () => {
  const [found] = withTrouble([upstream([place('a'), place('b')])], (id, model) =>
    id === 'east' && model === 'b' ? 'failing' : undefined,
  );
  expect(found?.models.map(placeState)).toEqual(['healthy', 'failing']);
});
