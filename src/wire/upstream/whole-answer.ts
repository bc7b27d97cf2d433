// The common part of all dialects' whole answers. They are read like a stream and folded, so that
// clients get the same result whether or not the upstream streamed.

import type { JsonObject } from '../../core/generation.ts';
import { isObject, parseJson } from '../../core/json.ts';
import { ANSWER_BYTES_MAX, isTooHeavy } from './limits.ts';

/** The body of a 200, which may be an error object; or a text that says what is wrong with it. */
export function parseAnswer(body: string): JsonObject | string {
  if (body.length > ANSWER_BYTES_MAX) return `more than ${ANSWER_BYTES_MAX} bytes`;
  if (isTooHeavy(body)) return 'a body with too many values, or nested too deep';
  const value = parseJson(body);
  return isObject(value) ? value : 'a body that is not a JSON object';
}
