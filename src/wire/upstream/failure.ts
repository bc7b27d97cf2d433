// Classifies upstream errors from a status and a body, or from an error record inside a 200, for
// all dialects. Rules specific to Messages servers are in their folder. What the upstream said goes
// with the failure as it is; the attempt removes the caller's words from it.

import type { FailureClass, UpstreamFailure } from '../../core/failure.ts';
import type { JsonObject } from '../../core/generation.ts';
import { isObject, parseJson } from '../../core/json.ts';
import { says, type WroteWords } from './callers-words.ts';
import { ERROR_LENGTH_MAX } from './limits.ts';
import { hasValue, toObject } from './narrow.ts';
import { readSaid } from './said.ts';

// Codes and phrases, by server. Texts are matched only where they are not the caller's
// (`callers-words.ts`).

/** The prompt does not fit. */
const CONTEXT_WORDS = new RegExp(
  [
    'context_length_exceeded|exceed_context_size_error',
    'maximum context length|prompt (?:is )?too long',
    'context (?:window|length|size) (?:is )?exceed',
    "exceed(?:s|ed)? (?:the |this |available |maximum |max |model'?s? )*context",
    // vLLM, SGLang.
    "context length is only|maximum model length|longer than the model'?s context length",
    // Text Generation Inference, and Together before it.
    'inputs`? tokens \\+ `?max_new_tokens|inputs`? must have less than',
    // LM Studio.
    'greater than the context length|keep the first \\d+ tokens',
    // Bedrock; xAI; Gemini; Cohere.
    'input is too long for requested model|maximum prompt length',
    'exceeds the maximum number of tokens allowed|tokens in the prompt cannot exceed',
    // Moonshot; DashScope; Volcengine; Z.ai, in English and in Chinese.
    'exceeded model token limit|range of input length|input length \\d+ exceeds',
    'prompt exceeds max length|prompt ?超长|上下文.{0,6}超',
  ].join('|'),
  'gi',
);

const RATE_WORDS = /rate_limit|rate limit|too many requests/gi;

const OVERLOAD_WORDS =
  /overloaded|at capacity|insufficient_system_resource|temporarily unavailable/gi;

const HARD_LIMIT = 'billing[ _]hard[ _]limit';

/** Our balance is empty, which some vendors report as a rate limit: the last two are xAI and Google. */
const QUOTA_WORDS = new RegExp(
  [
    `insufficient[_ ]quota|insufficient[_ ]balance|${HARD_LIMIT}|exceeded_current_quota`,
    'used all available credits|credits are depleted',
  ].join('|'),
  'gi',
);

/** A refused key, account or host of ours: Gemini, xAI, DashScope, Groq and OpenAI, with 400. */
const CREDENTIAL_WORDS = new RegExp(
  [
    'api key (?:not (?:valid|found)|expired)|incorrect api key|invalid api key|arrearage',
    'organization[ _](?:has been )?restricted|user location is not supported',
    HARD_LIMIT,
    // LiteLLM without a database, to any key but its own.
    'no_db_connection|no connected db',
  ].join('|'),
  'gi',
);

/** A prompt or an answer that the upstream's filter refuses, by server. */
const FILTER_WORDS = new RegExp(
  [
    // Azure: the code and the inner one. OpenAI. OpenRouter and OpenAI, in words.
    'content_filter|ResponsibleAIPolicyViolation|content_policy_violation|moderation_blocked',
    'requires moderation|input was flagged|flagged (?:for|by|as) ',
    // Anthropic; DeepSeek; DashScope; Volcengine; xAI.
    'content filtering policy|content exists risk|data_?inspection_?failed',
    'sensitive_?content_?detected|violates usage guidelines',
  ].join('|'),
  'gi',
);

/** A limit on the tokens of one request at this place: GitHub Models. */
const PLACE_LIMIT_WORDS = /tokens_limit_reached/gi;

/**
 * An unknown model name of our catalog, reported with 400 by DeepSeek, OpenRouter, Mistral, Z.ai.
 */
const MODEL_WORDS =
  /model_not_found|model[_ ]not[_ ]exist|not a valid model|invalid[_ ]model|unknown model/gi;

/** Thinking that was given back is refused: by Anthropic; by Responses servers; by Gemini. */
const THINKING_WORDS = new RegExp(
  [
    'invalid `?signature`? in `?thinking|bound to a different conversation',
    'blocks .{0,40}cannot be modified|expected `?thinking`? or',
    'invalid_encrypted_content|encrypted content .{0,80}could not be (?:verified|decrypted)',
    'without its required following item|item with id .{1,100} not found',
    "of type '?reasoning'? was provided",
    'missing a thought_signature|thought[ _]signature is not valid|corrupted thought signature',
  ].join('|'),
  'gi',
);

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
  const said = readSaid(parsed === undefined ? text : error, wrote);
  const detail = `the upstream answered with status ${status}`;
  const failure = { detail, status, said };
  const matches = matchesIn(error, text, wrote);
  if ([400, 404, 422].includes(status) && matches.anywhere(THINKING_WORDS)) {
    // Not the caller's fault: the gateway stored that thinking, and another upstream gets other.
    return { ...failure, class: 'mismatch', refusesThinking: true };
  }
  return { ...failure, class: classifyStatus(status, matches) };
}

function classifyStatus(status: number, { inWords, anywhere }: Matches): FailureClass {
  if (status === 401 || status === 402) return 'credential';
  // One customer's content must not block the credential for all others.
  if (FILTER_STATUSES.includes(status) && inWords(FILTER_WORDS)) return 'content_policy';
  if (status === 403) return 'credential';
  if (status === 408) return 'timeout';
  if (status === 429) return anywhere(QUOTA_WORDS) ? 'credential' : 'rate_limited';
  // Groq's 498 is a tier without capacity.
  if (status === 498 || status === 503 || status === 529) return 'overloaded';
  // A wrong base URL or model name is an error in our catalog, not the caller's.
  if (status === 404) return 'mismatch';
  // llama.cpp has reported a prompt that does not fit as a 500.
  if (status >= 400 && anywhere(CONTEXT_WORDS)) return 'context_length';
  if (status === 413 || inWords(PLACE_LIMIT_WORDS)) return 'too_large';
  if (status === 400 || status === 422) return refusalClass(inWords);
  if (PASSING_STATUSES.includes(status) || status < 300) return 'server_error';
  return status < 500 ? 'mismatch' : 'server_error';
}

const FILTER_STATUSES = [400, 403, 422, 451];

/** Temporary despite being below 500: a conflict, or a model that failed or is not ready. */
const PASSING_STATUSES = [409, 423, 424, 425, 499];

/** Attributes a refused request: to the caller, unless the error shows that it is our fault. */
function refusalClass(inWords: Matches['inWords']): FailureClass {
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
  const hasChoices = hasValue(value['choices']);
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
  return {
    class: classifyError(error, wrote),
    detail: 'the upstream reported an error in place of an answer',
    said: readSaid(error, wrote),
  };
}

/** MiniMax's codes, whose texts say little (platform.minimax.io, error codes, 2026-11-28). */
const BASE_CODES: ReadonlyMap<unknown, FailureClass> = new Map<unknown, FailureClass>([
  [1002, 'rate_limited'],
  [1004, 'credential'],
  // No credit.
  [1008, 'credential'],
  // The content of the prompt, or of the answer.
  [1026, 'content_policy'],
  [1027, 'content_policy'],
  [1039, 'context_length'],
  [2013, 'bad_request'],
]);

function classifyError(error: unknown, wrote: WroteWords): FailureClass {
  const { inWords } = matchesIn(error, '', wrote);
  if (inWords(CONTEXT_WORDS)) return 'context_length';
  if (inWords(FILTER_WORDS)) return 'content_policy';
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
  const { code, type, innererror } = toObject(error);
  return [code, type, toObject(innererror)['code']]
    .filter((word) => typeof word === 'string')
    .filter((word) => CODE.test(word));
}

function errorWords(error: unknown): string {
  if (typeof error === 'string') return error;
  const { code, type, message, msg } = toObject(error);
  return [code, type, message, msg].filter((word) => typeof word === 'string').join('\n');
}
