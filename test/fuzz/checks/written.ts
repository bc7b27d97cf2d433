// What holds of a written request in either dialect.

import assert from 'node:assert/strict';
import type { GenerationRequest } from '../../../src/core/generation.ts';
import type { UpstreamProfile } from '../../../src/core/profile.ts';
import type { Json } from './json.ts';

/** The ids that a profile's server takes. */
export const IDS = { any: /^/, word: /^[A-Za-z0-9_-]{1,64}$/, nine: /^[A-Za-z0-9]{9}$/ };

export function checkStops(
  value: Json | undefined,
  request: GenerationRequest,
  profile: UpstreamProfile,
) {
  const stops = (value ?? []) as readonly string[];
  assert.ok(value === undefined || stops.length > 0);
  assert.ok(stops.length <= profile.stopMax && stops.every((stop) => request.stop.includes(stop)));
  if (profile.blankStops === 'hold') assert.ok(stops.every((stop) => stop.trim() !== ''));
}

export function takeOut(open: string[], id: Json | undefined): void {
  const at = open.indexOf(String(id));
  assert.notEqual(at, -1, 'a result stands behind its call');
  open.splice(at, 1);
}
