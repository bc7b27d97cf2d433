// Classifies errors of Responses upstreams, from a status and a body or from an error record inside
// a 200. The common rules are shared; this file has the ones specific to the format.

import type { FailureClass, UpstreamFailure } from '../../../core/failure.ts';
import type { JsonObject } from '../../../core/generation.ts';
import { isObject, parseJson } from '../../../core/json.ts';
import { says, type WroteWords } from '../callers-words.ts';
import { errorEventFailure, readErrorRecord, statusFailure } from '../failure.ts';
import { ERROR_LENGTH_MAX } from '../limits.ts';
import { toObject, toText } from '../narrow.ts';

/**
 * Reasoning items of ours that the server does not take back: of another model, organization or
 * host, or without what followed them.
 */
const STALE_WORDS = new RegExp(
  [
    'invalid_encrypted_content|encrypted[_ ]content.{0,120}(?:could not|cannot|failed to) be',
    'without its required following item|item with id .{1,100} not found',
    "of type '?reasoning'? was provided",
  ].join('|'),
  'gi',
);

/** Codes of an error inside of a 200 (ResponseError in the types of openai 7.59, 2026-11-28). */
const CLASSES: readonly (readonly [RegExp, FailureClass])[] = [
  [/^insufficient_quota$/, 'credential'],
  [/^(?:invalid_prompt|\w*policy\w*|\w*image\w*|invalid_request_error)$/, 'bad_request'],
  // The answer has to be in a region that our catalog did not choose.
  [/^(?:data_residency_mismatch|model_not_found)$/, 'mismatch'],
];

/** Statuses with which vendors refuse an item of the input. */
const REFUSALS = [400, 404, 422];

/** Classifies a response whose status is not 2xx. */
export function responsesFailure(status: number, body: string, wrote: WroteWords): UpstreamFailure {
  const failure = statusFailure(status, body, wrote);
  const isStale =
    REFUSALS.includes(status) && refusesThinking(parseJson(body.slice(0, ERROR_LENGTH_MAX)), wrote);
  return isStale ? { ...failure, class: 'stale_thinking' } : failure;
}

/** The failure that a parsed event or body reports despite a status of 200, if any. */
export function readResponsesError(
  value: JsonObject,
  wrote: WroteWords,
): UpstreamFailure | undefined {
  const failure = readErrorRecord(value, wrote);
  return failure === undefined ? undefined : specific(failure, value, wrote);
}

/** The failure of an event whose name is an error, regardless of its data. */
export function responsesErrorEvent(data: string, wrote: WroteWords): UpstreamFailure {
  return specific(errorEventFailure(data, wrote), parseJson(data), wrote);
}

function specific(failure: UpstreamFailure, value: unknown, wrote: WroteWords): UpstreamFailure {
  if (refusesThinking(value, wrote)) return { ...failure, class: 'stale_thinking' };
  if (failure.class !== 'server_error') return failure;
  const code = toText(toObject(errorOf(value))['code']);
  const known = CLASSES.find(([pattern]) => pattern.test(code));
  return known === undefined ? failure : { ...failure, class: known[1] };
}

function refusesThinking(value: unknown, wrote: WroteWords): boolean {
  const error = errorOf(value);
  const { code, message } = toObject(error);
  const words = [error, code, message].filter((word) => typeof word === 'string').join('\n');
  return says(STALE_WORDS, words.slice(0, ERROR_LENGTH_MAX), wrote);
}

/** xAI writes the text in place of the object. */
function errorOf(value: unknown): unknown {
  return isObject(value) ? (value['error'] ?? value) : undefined;
}
