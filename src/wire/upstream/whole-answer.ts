// What the whole answers of all dialects have in common. They are read as a stream is and folded, so
// that what a client gets does not depend on whether the upstream was asked to stream.

import type { UpstreamFailure } from '../../core/failure.ts';
import { Fold } from '../../core/fold.ts';
import type { Answer, GenerationEvent, JsonObject } from '../../core/generation.ts';
import { isObject, parseJson } from '../../core/json.ts';
import { malformed } from './failure.ts';
import { ANSWER_BYTES_MAX } from './limits.ts';

/** Reads the body of a 200, whose events `read` emits. HTML and an error object are failures. */
export function readWholeAnswer(
  body: string,
  readError: (value: JsonObject) => UpstreamFailure | undefined,
  read: (
    value: JsonObject,
    onEvent: (event: GenerationEvent) => void,
  ) => UpstreamFailure | undefined,
): Answer | UpstreamFailure {
  if (body.length > ANSWER_BYTES_MAX) return malformed(`more than ${ANSWER_BYTES_MAX} bytes`);
  const value = parseJson(body);
  if (!isObject(value)) return malformed('a body that is not a JSON object');
  const fold = new Fold();
  return readError(value) ?? read(value, (event) => fold.push(event)) ?? fold.answer();
}
