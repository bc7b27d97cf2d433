// JSON as it is parsed. Nothing here throws.

import type { JsonObject } from './generation.ts';

/** The parsed JSON, or undefined: no JSON text parses to undefined. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether parsed JSON is an object, arrays and null excluded. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
