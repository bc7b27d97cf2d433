// Reading parsed JSON whose shape nobody promised. Called by every reader of the upstream dialects: a
// wrong type reads as absent, never as an error, because upstreams disagree about the details.

import type { JsonObject, JsonValue } from '../../core/generation.ts';
import { isObject } from '../../core/json.ts';
import { TOKEN_COUNT_MAX } from './limits.ts';

const EMPTY: JsonObject = {};
const NONE: readonly JsonValue[] = [];

/** The object, or one without members. */
export function toObject(value: unknown): JsonObject {
  return isObject(value) ? value : EMPTY;
}

/** The string, or the empty one. */
export function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The array, or an empty one. */
export function toList(value: unknown): readonly JsonValue[] {
  return Array.isArray(value) ? value : NONE;
}

/** The count of tokens, or undefined where it is no integer between 0 and 10⁹. */
export function toCount(value: unknown): number | undefined {
  if (typeof value !== 'number' || !Number.isInteger(value)) return undefined;
  // -0 would print as a negative amount.
  if (Object.is(value, -0) || value < 0 || value > TOKEN_COUNT_MAX) return undefined;
  return value;
}
