// Classifies errors of Messages upstreams, from a status and a body or from an error record inside
// a 200. The common rules are shared; this file has the ones specific to the format.

import type { FailureClass, UpstreamFailure } from '../../../core/failure.ts';
import type { JsonObject } from '../../../core/generation.ts';
import { isObject, parseJson } from '../../../core/json.ts';
import { says, type WroteWords } from '../callers-words.ts';
import { errorEventFailure, readErrorRecord, statusFailure } from '../failure.ts';
import { ERROR_LENGTH_MAX } from '../limits.ts';
import { toObject, toText } from '../narrow.ts';

/** The prompt fits, but not together with the bound on the answer. */
const CONTEXT_WORDS = /exceeds? context limit/gi;

/** Our balance is empty or our account closed, which Anthropic reports as an invalid request. */
const WALLET_WORDS =
  /credit balance is too low|insufficient balance|reached your specified .{0,20}usage limits|organization has been disabled/gi;

/**
 * Errors about the switch of thinking or the bound are not the caller's: our catalog sets both.
 * Another upstream may have others.
 */
const OWN_WORDS =
  /thinking\.(?:type|adaptive|enabled|budget_tokens|block_binding)|maximum allowed number of output tokens/gi;

const CLASSES: ReadonlyMap<string, FailureClass> = new Map([
  ['invalid_request_error', 'bad_request'],
  ['request_too_large', 'too_large'],
  ['authentication_error', 'credential'],
  ['billing_error', 'credential'],
  ['permission_error', 'credential'],
  ['rate_limit_error', 'rate_limited'],
  ['overloaded_error', 'overloaded'],
  ['timeout_error', 'timeout'],
]);

/** Classifies a response whose status is not 2xx. */
export function messagesFailure(status: number, body: string, wrote: WroteWords): UpstreamFailure {
  const failure = statusFailure(status, body, wrote);
  return failure.class === 'bad_request' ? withClass(failure, wordsClass(body, wrote)) : failure;
}

/** The failure that a parsed event or body reports despite a status of 200, if any. */
export function readMessagesError(
  value: JsonObject,
  wrote: WroteWords,
): UpstreamFailure | undefined {
  const failure = readErrorRecord(value, wrote);
  if (failure?.class !== 'server_error') return failure;
  return withClass(failure, errorClass(value, wrote));
}

/** The failure of an event whose name is an error, regardless of its data. */
export function messagesErrorEvent(data: string, wrote: WroteWords): UpstreamFailure {
  const value = parseJson(data);
  return (isObject(value) && readMessagesError(value, wrote)) || errorEventFailure(data, wrote);
}

function withClass(failure: UpstreamFailure, known: FailureClass | undefined): UpstreamFailure {
  return known === undefined ? failure : { ...failure, class: known };
}

function errorClass(value: JsonObject, wrote: WroteWords): FailureClass | undefined {
  const { type, message } = toObject(value['error']);
  return wordsClass(toText(message), wrote) ?? CLASSES.get(toText(type));
}

function wordsClass(text: string, wrote: WroteWords): FailureClass | undefined {
  const words = text.slice(0, ERROR_LENGTH_MAX);
  if (says(CONTEXT_WORDS, words, wrote)) return 'context_length';
  if (says(WALLET_WORDS, words, wrote)) return 'credential';
  return says(OWN_WORDS, words, wrote) ? 'mismatch' : undefined;
}
