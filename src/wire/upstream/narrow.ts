// Reading parsed JSON whose shape nobody promised. Called by every file of the upstream dialects:
// a wrong type reads as absent, never as an error, because upstreams disagree about the details.

export type JsonRecord = { readonly [key: string]: unknown };

const EMPTY_RECORD: JsonRecord = {};

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object, or one without members. */
export function toRecord(value: unknown): JsonRecord {
  return isRecord(value) ? value : EMPTY_RECORD;
}

/** The string, or the empty one. */
export function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The array, or an empty one. */
export function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
