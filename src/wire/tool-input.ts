// Formats tool inputs for formats that require a JSON object: arguments are text written by a model
// or a client. Used by the Messages format for clients, and for all upstreams. Makes no values of
// them, because some take a thousand times the memory of their text.

import { parseJson } from '../core/json.ts';
import { jsonKind } from '../core/json-kind.ts';
import { repairSurrogates } from './json.ts';

/** Whether `text` is the JSON of an object, as a tool's input has to be. */
export function isJsonObject(text: string): boolean {
  return jsonKind(text) === 'object';
}

/** Whether `text` is complete JSON of any kind: a call cut by the length limit is not. */
export function isWholeJson(text: string): boolean {
  return jsonKind(text) !== undefined;
}

/**
 * The JSON object to write as a call's input. Valid arguments are unchanged, byte for byte. An
 * object that was encoded twice is unwrapped once, and any other value is put under `value`.
 * Nothing, or truncated text, becomes an empty object: half an input must not look complete. A lone
 * surrogate becomes U+FFFD, because strict parsers refuse the whole body for it.
 */
export function toolInput(argumentsText: string): string {
  return repairSurrogates(objectText(argumentsText));
}

function objectText(argumentsText: string): string {
  const kind = jsonKind(argumentsText);
  if (kind === 'object') return argumentsText;
  if (kind === undefined || kind === 'null') return '{}';
  const inner = kind === 'string' ? parseJson(argumentsText) : undefined;
  if (typeof inner === 'string' && isJsonObject(inner)) return inner;
  return `{"value":${argumentsText}}`;
}
