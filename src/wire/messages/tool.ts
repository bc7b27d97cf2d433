// Tool calls on the way to a Messages client and back: ids that every client takes, and inputs
// that are always one JSON object. Used by the response, the stream encoder and the request parser.

import { isObject } from '../check.ts';
import { parseJson } from '../json.ts';

const PLAIN_ID = /^[A-Za-z0-9_-]+$/;
const ENCODED_PREFIX = 'toolu_x';

/**
 * The id that a client sees. An upstream's id of plain characters passes as it is, whatever its
 * length; any other is spelled in base64url behind a prefix of ours. So is one that has the prefix
 * already, or it could not be told from ours on its way back.
 */
export function encodeToolId(id: string): string {
  if (PLAIN_ID.test(id) && !id.startsWith(ENCODED_PREFIX)) return id;
  return ENCODED_PREFIX + Buffer.from(id, 'utf8').toString('base64url');
}

/** The upstream's id behind one that a client gave back; ids that are not ours stay as they are. */
export function decodeToolId(id: string): string {
  if (!id.startsWith(ENCODED_PREFIX)) return id;
  const decoded = Buffer.from(id.slice(ENCODED_PREFIX.length), 'base64url').toString('utf8');
  return encodeToolId(decoded) === id ? decoded : id;
}

/** Whether `text` is the JSON of an object, as a tool's input has to be. */
export function isJsonObject(text: string): boolean {
  return isObject(parseJson(text));
}

/** Whether `text` is whole JSON of any kind: a call that the length limit cut is not. */
export function isWholeJson(text: string): boolean {
  return parseJson(text) !== undefined;
}

/**
 * The JSON object to show as a call's input. Valid arguments pass byte for byte. Repaired are an
 * object that was encoded twice (unwrapped once), another kind of value (put under `value`), and
 * nothing or a torn text, which becomes an empty object: half an input must not look like a whole.
 */
export function toolInput(argumentsText: string): string {
  const value = parseJson(argumentsText);
  if (isObject(value)) return argumentsText;
  if (value === undefined || value === null) return '{}';
  if (typeof value === 'string' && isJsonObject(value)) return value;
  return `{"value":${argumentsText}}`;
}
