// Classifies the errors that a Responses upstream reports inside of a 200. The rules for a status
// are those of all dialects.

import type { FailureClass, UpstreamFailure } from '../../../core/failure.ts';
import type { JsonObject } from '../../../core/generation.ts';
import { isObject, parseJson } from '../../../core/json.ts';
import type { WroteWords } from '../callers-words.ts';
import { errorEventFailure, readErrorRecord } from '../failure.ts';
import { toObject, toText } from '../narrow.ts';

/** Codes of an error inside of a 200 (ResponseError in the types of openai 7.59, 2026-11-28). */
const CLASSES: readonly (readonly [RegExp, FailureClass])[] = [
  [/^insufficient_quota$/, 'credential'],
  [/^(?:invalid_prompt|\w*policy\w*|\w*image\w*|invalid_request_error)$/, 'bad_request'],
  // A region or a name of our catalog: another upstream has others.
  [/^(?:data_residency_mismatch|model_not_found)$/, 'mismatch'],
];

/** The code for thinking that the gateway gave back. */
const REFUSED_THINKING = 'invalid_encrypted_content';

/** The failure that a parsed event or body reports despite a status of 200, if any. */
export function readResponsesError(
  value: JsonObject,
  wrote: WroteWords,
): UpstreamFailure | undefined {
  const failure = readErrorRecord(value, wrote);
  return failure === undefined ? undefined : specific(failure, value);
}

/** The failure of an event whose name is an error, regardless of its data. */
export function responsesErrorEvent(data: string, wrote: WroteWords): UpstreamFailure {
  return specific(errorEventFailure(data, wrote), parseJson(data));
}

function specific(failure: UpstreamFailure, value: unknown): UpstreamFailure {
  if (failure.class !== 'server_error') return failure;
  const code = toText(toObject(errorOf(value))['code']);
  if (code === REFUSED_THINKING) return { ...failure, class: 'mismatch', refusesThinking: true };
  const known = CLASSES.find(([pattern]) => pattern.test(code));
  return known === undefined ? failure : { ...failure, class: known[1] };
}

/** xAI writes the text in place of the object. */
function errorOf(value: unknown): unknown {
  return isObject(value) ? (value['error'] ?? value) : undefined;
}
