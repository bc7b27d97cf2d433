// Formats tool inputs for formats that require a JSON object: arguments are text written by a model
// or a client. Used by the Messages format for clients, and for all upstreams.

import { isObject, parseJson } from '../core/json.ts';
import { JSON_WEIGHT_MAX, type JsonWeight, weighJson } from '../core/json-weight.ts';
import { repairSurrogates } from './json.ts';

/** Values may take a thousand times the memory of their text. */
const INPUT_WEIGHT_MAX: JsonWeight = { ...JSON_WEIGHT_MAX, depth: 1_000 };

/** Whether `text` is the JSON of an object, as a tool's input has to be. */
export function isJsonObject(text: string): boolean {
  return isObject(inputOf(text));
}

/** Whether `text` is complete JSON of any kind: a call cut by the length limit is not. */
export function isWholeJson(text: string): boolean {
  return inputOf(text) !== undefined;
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
  const value = inputOf(argumentsText);
  if (isObject(value)) return argumentsText;
  if (value === undefined || value === null) return '{}';
  if (typeof value === 'string' && isJsonObject(value)) return value;
  return `{"value":${argumentsText}}`;
}

/** Undefined if the text is not JSON, or heavier than a request's body may be. */
function inputOf(text: string): unknown {
  const { excess } = weighJson(Buffer.from(text), INPUT_WEIGHT_MAX);
  return excess === undefined ? parseJson(text) : undefined;
}
