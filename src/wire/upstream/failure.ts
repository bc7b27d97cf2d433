// What went wrong at an upstream: from a status and a body, or from an error record inside a 200.
// Called by the codecs of both dialects; what Messages servers have of their own is in their folder.
// The upstream's words are read to recognise a class and are never copied anywhere.

import type { FailureClass, UpstreamFailure } from '../../core/failure.ts';
import type { JsonObject } from '../../core/generation.ts';
import { isObject, parseJson } from '../../core/json.ts';
import { NOT_THE_CALLERS, says, type WroteWords } from './callers-words.ts';
import { ERROR_LENGTH_MAX } from './limits.ts';
import { toObject } from './narrow.ts';

/** Codes and phrases that say "the prompt does not fit", from the servers that have one. */
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

/** An empty wallet of ours, which one vendor reports as a rate limit. */
const QUOTA_WORDS =
  /insufficient[_ ]quota|insufficient[_ ]balance|billing_hard_limit|exceeded_current_quota/gi;

/** A key or an account of ours that is refused with 400: by Gemini, by xAI and by DashScope. */
const CREDENTIAL_WORDS = /api key not valid|incorrect api key|invalid api key|arrearage/gi;

/** A prompt that is refused for what it says, which one gateway reports with 403: by OpenRouter. */
const FLAGGED_WORDS = /requires moderation|input was flagged|flagged (?:for|by) /gi;

/** A model name of our catalog that is refused with 400: by DeepSeek, OpenRouter, Mistral, Z.ai. */
const MODEL_WORDS =
  /model_not_found|model[_ ]not[_ ]exist|not a valid model|invalid[_ ]model|unknown model/gi;

/** The failure of an answer that cannot be read; `what` is in our own words. */
export function malformed(what: string): UpstreamFailure {
  return { class: 'malformed', detail: `the upstream sent ${what}` };
}

/** The failure of a request that this upstream's profile rules out, so that nothing is sent. */
export function unsupported(detail: string): UpstreamFailure {
  return { class: 'unsupported', detail };
}

/** Classifies an answer whose status is not 2xx. */
export function statusFailure(
  status: number,
  body: string,
  wrote: WroteWords = NOT_THE_CALLERS,
): UpstreamFailure {
  return {
    class: classifyStatus(status, readSaid(body.slice(0, ERROR_LENGTH_MAX), wrote)),
    detail: `the upstream answered with status ${status}`,
    status,
  };
}

function classifyStatus(status: number, said: Said): FailureClass {
  if (status === 401 || status === 402) return 'credential';
  // What one customer says must not cost all others the credential.
  if (status === 403) return said.inWords(FLAGGED_WORDS) ? 'bad_request' : 'credential';
  if (status === 408) return 'timeout';
  if (status === 429) return said.anywhere(QUOTA_WORDS) ? 'credential' : 'rate_limited';
  // Groq's 498 is a tier without capacity.
  if (status === 498 || status === 503 || status === 529) return 'overloaded';
  // A wrong base URL or model name is a mistake in our catalog, not the caller's.
  if (status === 404) return 'mismatch';
  // llama.cpp has reported a prompt that does not fit as a 500.
  if (status >= 400 && said.anywhere(CONTEXT_WORDS)) return 'context_length';
  if (status === 400 || status === 413 || status === 422) return refusalClass(status, said);
  if (PASSING_STATUSES.includes(status) || status < 300) return 'server_error';
  return status < 500 ? 'mismatch' : 'server_error';
}

/** Below 500, and yet about the moment: a conflict, a model that failed or is not ready. */
const PASSING_STATUSES = [409, 423, 424, 425, 499];

/** Whose mistake a refused request is: the caller's, unless it says that it is ours. */
function refusalClass(status: number, said: Said): FailureClass {
  // Groq refuses so what is larger than our tokens of a minute: it never fits there.
  if (status === 413 && said.inWords(RATE_WORDS)) return 'mismatch';
  if (said.inWords(CREDENTIAL_WORDS)) return 'credential';
  return said.inWords(MODEL_WORDS) ? 'mismatch' : 'bad_request';
}

/** What an error says, in its codes or in words that are not the caller's. */
type Said = {
  /** In the code, the type or the message of the error. */
  readonly inWords: (pattern: RegExp) => boolean;
  /** In its whole body as well: not all of them have a message. */
  readonly anywhere: (pattern: RegExp) => boolean;
};

/** The body as a whole may repeat the caller's words. */
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
 * The failure that a parsed body or chunk reports although its status was 200, or undefined when it
 * is no error: `{error: {…}}`, `{error: "text"}` (Ollama), `{object: "error", …}` (older vLLM),
 * `{type: "error", …}`, and what stands in place of an answer.
 */
export function readErrorRecord(
  value: JsonObject,
  wrote: WroteWords = NOT_THE_CALLERS,
): UpstreamFailure | undefined {
  const error = value['error'];
  const hasChoices = (value['choices'] ?? null) !== null;
  // Some gateways send the record with every chunk, and say nothing in it.
  if (isObject(error) && (!hasChoices || Object.values(error).some(Boolean))) {
    return errorFailure(error, wrote);
  }
  if (typeof error === 'string' && error !== '') return errorFailure(error, wrote);
  if (value['object'] === 'error' || value['type'] === 'error') return errorFailure(value, wrote);
  const bare = hasChoices ? undefined : readBareRecord(value);
  return bare === undefined ? undefined : errorFailure(bare, wrote);
}

/** An error that no member called `error` holds, from FastAPI, Cloudflare, MiniMax and others. */
function readBareRecord(value: JsonObject): unknown {
  const { detail, errors, success, error, code, msg } = value;
  if (detail !== undefined) return detail;
  if (Array.isArray(errors) && errors.length > 0) return errors[0];
  if (success === false || error === true) return value;
  const { status_code: status, status_msg: message } = toObject(value['base_resp']);
  if (status !== undefined && status !== 0) return { code: status, message };
  const isGood = code === undefined || code === 0 || code === 200;
  return typeof msg === 'string' && !isGood ? value : undefined;
}

/** The failure of an event that is an error by its name, whatever its data is. */
export function errorEventFailure(
  data: string,
  wrote: WroteWords = NOT_THE_CALLERS,
): UpstreamFailure {
  const value = parseJson(data);
  return (isObject(value) && readErrorRecord(value, wrote)) || errorFailure(value ?? data, wrote);
}

function errorFailure(error: unknown, wrote: WroteWords): UpstreamFailure {
  return {
    class: classifyError(error, wrote),
    detail: 'the upstream reported an error in place of an answer',
  };
}

function classifyError(error: unknown, wrote: WroteWords): FailureClass {
  const { inWords } = saidBy(error, wrote);
  if (inWords(CONTEXT_WORDS)) return 'context_length';
  const code = toObject(error)['code'];
  if (code === 429 || inWords(RATE_WORDS)) return 'rate_limited';
  if (code === 503 || code === 529 || inWords(OVERLOAD_WORDS)) return 'overloaded';
  return 'server_error';
}

/** An upstream chooses its codes, and none of them holds what a caller wrote. */
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
