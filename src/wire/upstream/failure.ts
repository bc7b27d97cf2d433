// Classifies upstream errors from a status and a body, or from an error record inside a 200, for
// both dialects. Rules specific to Messages servers are in their folder. The upstream's text is
// matched against patterns and never copied.

import type { FailureClass, UpstreamFailure } from '../../core/failure.ts';
import type { JsonObject } from '../../core/generation.ts';
import { isObject, parseJson } from '../../core/json.ts';
import { says, type WroteWords } from './callers-words.ts';
import { ERROR_LENGTH_MAX } from './limits.ts';
import { toObject } from './narrow.ts';

/** Codes and phrases for "the prompt does not fit", by server. */
const CONTEXT_WORDS = new RegExp(
  [
    'context_length_exceeded|exceed_context_size_error|tokens_limit_reached',
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
  ].join('|'),
  'gi',
);

/** A prompt refused for its content, which OpenRouter reports with 403. */
const FLAGGED_WORDS = /requires moderation|input was flagged|flagged (?:for|by) /gi;

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
  const said = readSaid(body.slice(0, ERROR_LENGTH_MAX), wrote);
  const detail = `the upstream answered with status ${status}`;
  if (isRefused(status) && said.anywhere(THINKING_WORDS)) {
    // Not the caller's fault: the gateway stored that thinking, and another upstream gets other.
    return { class: 'mismatch', detail, status, refusesThinking: true };
  }
  return { class: classifyStatus(status, said), detail, status };
}

function isRefused(status: number): boolean {
  return status === 400 || status === 404 || status === 422;
}

function classifyStatus(status: number, said: Said): FailureClass {
  if (status === 401 || status === 402) return 'credential';
  // One customer's content must not block the credential for all others.
  if (status === 403) return said.inWords(FLAGGED_WORDS) ? 'bad_request' : 'credential';
  if (status === 408) return 'timeout';
  if (status === 429) return said.anywhere(QUOTA_WORDS) ? 'credential' : 'rate_limited';
  // Groq's 498 is a tier without capacity.
  if (status === 498 || status === 503 || status === 529) return 'overloaded';
  // A wrong base URL or model name is an error in our catalog, not the caller's.
  if (status === 404) return 'mismatch';
  // llama.cpp has reported a prompt that does not fit as a 500.
  if (status >= 400 && said.anywhere(CONTEXT_WORDS)) return 'context_length';
  if (status === 400 || status === 413 || status === 422) return refusalClass(status, said);
  if (PASSING_STATUSES.includes(status) || status < 300) return 'server_error';
  return status < 500 ? 'mismatch' : 'server_error';
}

/** Temporary despite being below 500: a conflict, or a model that failed or is not ready. */
const PASSING_STATUSES = [409, 423, 424, 425, 499];

/** Attributes a refused request: to the caller, unless the error shows that it is our fault. */
function refusalClass(status: number, said: Said): FailureClass {
  // Groq reports a request above our per-minute tokens this way, so it never fits there.
  if (status === 413 && said.inWords(RATE_WORDS)) return 'mismatch';
  if (said.inWords(CREDENTIAL_WORDS)) return 'credential';
  return said.inWords(MODEL_WORDS) ? 'mismatch' : 'bad_request';
}

/** What an error says, in codes or in text that is not the caller's. */
type Said = {
  /** In the code, the type or the message of the error. */
  readonly inWords: (pattern: RegExp) => boolean;
  /** Also in its whole body, because not all errors have a message. */
  readonly anywhere: (pattern: RegExp) => boolean;
};

/** The body as a whole may repeat the caller's text. */
function readSaid(body: string, wrote: WroteWords): Said {
  const parsed = parseJson(body);
  // Gemini puts its errors into a list.
  const value = toObject(Array.isArray(parsed) ? parsed[0] : parsed);
  const { inWords } = saidBy(value['error'] ?? value, wrote);
  return { inWords, anywhere: (pattern) => inWords(pattern) || says(pattern, body, wrote) };
}

function saidBy(error: unknown, wrote: WroteWords): Pick<Said, 'inWords'> {
  const codes = errorCodes(error);
  const words = errorWords(error).slice(0, ERROR_LENGTH_MAX);
  return {
    inWords: (pattern) =>
      codes.some((code) => code.search(pattern) !== -1) || says(pattern, words, wrote),
  };
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
  return {
    class: classifyError(error, wrote),
    detail: 'the upstream reported an error in place of an answer',
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
  const { inWords } = saidBy(error, wrote);
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
