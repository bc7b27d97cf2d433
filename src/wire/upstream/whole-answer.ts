// What the whole answers of all dialects have in common. They are read as a stream is and folded, so
// that what a client gets does not depend on whether the upstream was asked to stream.

import type { JsonObject } from '../../core/generation.ts';
import { isObject, parseJson } from '../../core/json.ts';
import { ANSWER_BYTES_MAX } from './limits.ts';

/** The body of a 200, which may be an error object; or, as a text, what is wrong with it. */
export function parseAnswer(body: string): JsonObject | string {
  if (body.length > ANSWER_BYTES_MAX) return `more than ${ANSWER_BYTES_MAX} bytes`;
  const value = parseJson(body);
  return isObject(value) ? value : 'a body that is not a JSON object';
}
