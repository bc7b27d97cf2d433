// Classifies upstream errors from a status and a body, or from an error record inside a 200, for
// all dialects. Rules specific to Messages servers are in their folder. What the upstream said goes
// with the failure as it is; the attempt removes the caller's words from it.

import type { FailureClass, UpstreamFailure } from '../../core/failure.ts';
import type { JsonObject } from '../../core/generation.ts';
import { isObject, parseJson } from '../../core/json.ts';
import { says, type WroteWords } from './callers-words.ts';
import {
  CONTEXT_WORDS,
  CREDENTIAL_WORDS,
  FLAGGED_WORDS,
  MODEL_WORDS,
  OVERLOAD_WORDS,
  QUOTA_WORDS,
  RATE_WORDS,
  THINKING_WORDS,
} from './failure-words.ts';
import { ERROR_LENGTH_MAX } from './limits.ts';
import { toObject } from './narrow.ts';
import { readSaid, readSaidText } from './said.ts';

/** The failure of an unreadable answer; `what` is our own description. */
export function malformed(what: string): UpstreamFailure {
  return { class: 'malformed', detail: `the upstream sent ${what}` };
}

/** The failure of a request that this upstream's profile cannot express; nothing is sent. */
export function unsupported(detail: string): UpstreamFailure {
  return { class: 'unsupported', detail };
}

/** Classifies a response whose status is not 2xx. */
export function statusFailure(status: number, body: string, wrote: WroteWords): UpstreamFailure {
  const text = body.slice(0, ERROR_LENGTH_MAX);
  const parsed = parseJson(text);
  // Gemini puts its errors into a list.
  const value = Array.isArray(parsed) ? parsed[0] : parsed;
  const error = toObject(value)['error'] ?? value;
  const said = parsed === undefined ? readSaidText(text) : readSaid(error);
  const detail = `the upstream answered with status ${status}`;
  const failure = { detail, status, ...(said === undefined ? {} : { said }) };
  const matches = matchesIn(error, text, wrote);
  if (isRefused(status) && matches.anywhere(THINKING_WORDS)) {
    // Not the caller's fault: the gateway stored that thinking, and another upstream gets other.
    return { ...failure, class: 'mismatch', refusesThinking: true };
  }
  return { ...failure, class: classifyStatus(status, matches) };
}

function isRefused(status: number): boolean {
  return status === 400 || status === 404 || status === 422;
}

function classifyStatus(status: number, { inWords, anywhere }: Matches): FailureClass {
  if (status === 401 || status === 402) return 'credential';
  // One customer's content must not block the credential for all others.
  if (status === 403) return inWords(FLAGGED_WORDS) ? 'bad_request' : 'credential';
  if (status === 408) return 'timeout';
  if (status === 429) return anywhere(QUOTA_WORDS) ? 'credential' : 'rate_limited';
  // Groq's 498 is a tier without capacity.
  if (status === 498 || status === 503 || status === 529) return 'overloaded';
  // A wrong base URL or model name is an error in our catalog, not the caller's.
  if (status === 404) return 'mismatch';
  // llama.cpp has reported a prompt that does not fit as a 500.
  if (status >= 400 && anywhere(CONTEXT_WORDS)) return 'context_length';
  if (status === 400 || status === 413 || status === 422) return refusalClass(status, { inWords });
  if (PASSING_STATUSES.includes(status) || status < 300) return 'server_error';
  return status < 500 ? 'mismatch' : 'server_error';
}

/** Temporary despite being below 500: a conflict, or a model that failed or is not ready. */
const PASSING_STATUSES = [409, 423, 424, 425, 499];

/** Attributes a refused request: to the caller, unless the error shows that it is our fault. */
function refusalClass(status: number, { inWords }: Pick<Matches, 'inWords'>): FailureClass {
  // Groq reports a request above our per-minute tokens this way, so it never fits there.
  if (status === 413 && inWords(RATE_WORDS)) return 'mismatch';
  if (inWords(CREDENTIAL_WORDS)) return 'credential';
  return inWords(MODEL_WORDS) ? 'mismatch' : 'bad_request';
}

/** Looks for patterns in what an error says, in codes or in text that is not the caller's. */
type Matches = {
  /** In the code, the type or the message of the error. */
  readonly inWords: (pattern: RegExp) => boolean;
  /** Also in its whole body, because not all errors have a message. */
  readonly anywhere: (pattern: RegExp) => boolean;
};

/** The body as a whole may repeat the caller's text. */
function matchesIn(error: unknown, body: string, wrote: WroteWords): Matches {
  const codes = errorCodes(error);
  const words = errorWords(error).slice(0, ERROR_LENGTH_MAX);
  const inWords = (pattern: RegExp): boolean =>
    codes.some((code) => code.search(pattern) !== -1) || says(pattern, words, wrote);
  return { inWords, anywhere: (pattern) => inWords(pattern) || says(pattern, body, wrote) };
}

/**
 * The failure that a parsed body or chunk reports despite a status of 200, or undefined if it is
 * not an error: `{error: {…}}`, `{error: "text"}` (Ollama), `{object: "error", …}` (older vLLM),
 * `{type: "error", …}`, and other replacements for an answer.
 */
export function readErrorRecord(value: JsonObject, wrote: WroteWords): UpstreamFailure | undefined {
  const error = value['error'];
  const hasChoices = (value['choices'] ?? null) !== null;
  // Some gateways send an empty error record with every chunk.
  if (isObject(error) && (!hasChoices || Object.values(error).some(Boolean))) {
    return errorFailure(error, wrote);
  }
  if (typeof error === 'string' && error !== '') return errorFailure(error, wrote);
  if (value['object'] === 'error' || value['type'] === 'error') return errorFailure(value, wrote);
  const bare = hasChoices ? undefined : readBareRecord(value);
  return bare === undefined ? undefined : errorFailure(bare, wrote);
}

/** An error without an `error` member, from FastAPI, Cloudflare, MiniMax and others. */
function readBareRecord(value: JsonObject): unknown {
  const { detail, errors, success, error, code, msg } = value;
  if (detail !== undefined) return detail;
  if (Array.isArray(errors) && errors.length > 0) return errors[0];
  if (success === false || error === true) return value;
  const { status_code: status, status_msg: message } = toObject(value['base_resp']);
  if (status !== undefined && status !== 0) return { base_code: status, message };
  const isGood = code === undefined || code === 0 || code === 200;
  return typeof msg === 'string' && !isGood ? value : undefined;
}

/** The failure of an event whose name is an error, regardless of its data. */
export function errorEventFailure(data: string, wrote: WroteWords): UpstreamFailure {
  const value = parseJson(data);
  return (isObject(value) && readErrorRecord(value, wrote)) || errorFailure(value ?? data, wrote);
}

function errorFailure(error: unknown, wrote: WroteWords): UpstreamFailure {
  const said = readSaid(error);
  return {
    class: classifyError(error, wrote),
    detail: 'the upstream reported an error in place of an answer',
    ...(said === undefined ? {} : { said }),
  };
}

/** MiniMax's codes, whose texts say little (platform.minimax.io, error codes, 2026-11-28). */
const BASE_CODES: ReadonlyMap<unknown, FailureClass> = new Map<unknown, FailureClass>([
  [1002, 'rate_limited'],
  [1004, 'credential'],
  // No credit.
  [1008, 'credential'],
  // The content of the prompt, or of the answer.
  [1026, 'bad_request'],
  [1027, 'bad_request'],
  [1039, 'context_length'],
  [2013, 'bad_request'],
]);

function classifyError(error: unknown, wrote: WroteWords): FailureClass {
  const { inWords } = matchesIn(error, '', wrote);
  if (inWords(CONTEXT_WORDS)) return 'context_length';
  const { code, base_code: baseCode } = toObject(error);
  const ofBase = BASE_CODES.get(baseCode);
  if (ofBase !== undefined) return ofBase;
  if (code === 429 || inWords(RATE_WORDS)) return 'rate_limited';
  if (code === 503 || code === 529 || inWords(OVERLOAD_WORDS)) return 'overloaded';
  return 'server_error';
}

/** Codes are chosen by the upstream and contain no caller text. */
const CODE = /^[\w.-]{1,64}$/;

function errorCodes(error: unknown): string[] {
  const { code, type } = toObject(error);
  return [code, type].filter((word) => typeof word === 'string').filter((word) => CODE.test(word));
}

function errorWords(error: unknown): string {
  if (typeof error === 'string') return error;
  const { code, type, message, msg } = toObject(error);
  return [code, type, message, msg].filter((word) => typeof word === 'string').join('\n');
}
