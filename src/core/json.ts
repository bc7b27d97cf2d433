// JSON parsing that never throws.

import type { JsonObject } from './generation.ts';

/** The runtime passes the text of each number; TypeScript's type does not have it yet. */
type Reviver = (key: string, value: unknown, context?: { readonly source?: string }) => unknown;

/** The parsed JSON, or undefined if the text is not JSON. */
export function parseJson(text: string, reviver?: Reviver): unknown {
  try {
    return JSON.parse(text, reviver);
  } catch {
    return undefined;
  }
}

/** As `parseJson`, but numbers are strings with the digits of the text. */
export function parseJsonNumbers(text: string): unknown {
  return parseJson(text, (_key, value, context) =>
    typeof value === 'number' ? context?.source : value,
  );
}

/** Whether parsed JSON is an object, not an array and not null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
