// The input of a tool call where a format wants it as one JSON object: arguments are text that a
// model, or a client, wrote. Used by the writers of the Messages format, for clients and upstreams.

import { isObject, parseJson } from '../core/json.ts';
import { repairSurrogates } from './json.ts';

/** Whether `text` is the JSON of an object, as a tool's input has to be. */
export function isJsonObject(text: string): boolean {
  return isObject(parseJson(text));
}

/** Whether `text` is whole JSON of any kind: a call that the length limit cut is not. */
export function isWholeJson(text: string): boolean {
  return parseJson(text) !== undefined;
}

/**
 * The JSON object to write as a call's input. Valid arguments pass byte for byte. Repaired are an
 * object that was encoded twice (unwrapped once), another kind of value (put under `value`), and
 * nothing or a torn text, which becomes an empty object: half an input must not look like a whole.
 * Half a character becomes U+FFFD: inside a body, strict parsers refuse all of it for that.
 */
export function toolInput(argumentsText: string): string {
  return repairSurrogates(objectText(argumentsText));
}

function objectText(argumentsText: string): string {
  const value = parseJson(argumentsText);
  if (isObject(value)) return argumentsText;
  if (value === undefined || value === null) return '{}';
  if (typeof value === 'string' && isJsonObject(value)) return value;
  return `{"value":${argumentsText}}`;
}
