// Reads parsed JSON of unknown shape, for all readers of the upstream dialects. A wrong type reads
// as absent, never as an error, because upstreams differ in details.

import type { JsonObject, JsonValue } from '../../core/generation.ts';
import { isObject } from '../../core/json.ts';
import { TOKEN_COUNT_MAX } from './limits.ts';

const EMPTY: JsonObject = {};
const NONE: readonly JsonValue[] = [];

/** Whether a member is there: many servers write null for what they leave out. */
export function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** The object, or an empty one. */
export function toObject(value: unknown): JsonObject {
  return isObject(value) ? value : EMPTY;
}

/** The string, or an empty one. */
export function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The array, or an empty one. */
export function toList(value: unknown): readonly JsonValue[] {
  return Array.isArray(value) ? value : NONE;
}

/** The token count, or undefined unless it is an integer between 0 and 10⁹. */
export function toCount(value: unknown): number | undefined {
  if (typeof value !== 'number' || !Number.isInteger(value)) return undefined;
  // -0 would print as a negative amount.
  if (Object.is(value, -0) || value < 0 || value > TOKEN_COUNT_MAX) return undefined;
  return value;
}
