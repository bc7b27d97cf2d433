// What went wrong at a chat-completions upstream: from a status and a body, or from an error record
// inside a 200. The upstream's words are read to recognise a class and are never copied anywhere.

import type { FailureClass, UpstreamFailure } from '../../core/failure.ts';
import type { JsonObject } from '../../core/generation.ts';
import { isObject, parseJson } from '../json.ts';
import { ERROR_LENGTH_MAX } from './limits.ts';
import { toObject } from './narrow.ts';

/** Codes and phrases that say "the prompt does not fit", from the servers that have one. */
const CONTEXT_WORDS =
  /context_length_exceeded|exceed_context_size_error|maximum context length|prompt is too long|context (?:window|length|size) (?:is )?exceed|exceeds? the (?:available |maximum |model'?s )*context/i;

const OVERLOAD_WORDS =
  /overloaded|rate_limit|rate limit|too many requests|at capacity|insufficient_system_resource|temporarily unavailable/i;

/** An empty wallet of ours, which one vendor reports as a rate limit. */
const QUOTA_WORDS = /insufficient_quota|insufficient_balance|billing_hard_limit/i;

/** Classifies an answer whose status is not 2xx (design section 4). */
export function chatFailure(status: number, body: string): UpstreamFailure {
  return {
    class: classifyStatus(status, body.slice(0, ERROR_LENGTH_MAX)),
    detail: `the upstream answered with status ${status}`,
    status,
  };
}

function classifyStatus(status: number, body: string): FailureClass {
  if (status === 401 || status === 402 || status === 403) return 'credential';
  if (status === 408) return 'timeout';
  if (status === 429 && QUOTA_WORDS.test(body)) return 'credential';
  if (status === 429 || status === 503 || status === 529) return 'overloaded';
  // A wrong base URL or model name is a mistake in our catalog, not the caller's.
  if (status === 404) return 'server_error';
  // llama.cpp has reported a prompt that does not fit as a 500.
  if (status >= 400 && CONTEXT_WORDS.test(body)) return 'context_length';
  return status >= 400 && status < 500 ? 'bad_request' : 'server_error';
}

/**
 * The failure that a parsed body or chunk reports although its status was 200, or undefined when it
 * is no error: `{error: {…}}`, `{error: "text"}` (Ollama), `{object: "error", …}` (older vLLM),
 * `{type: "error", …}`, and `{detail: …}` in place of an answer (FastAPI servers).
 */
export function readErrorRecord(value: JsonObject): UpstreamFailure | undefined {
  const error = value['error'];
  if (isObject(error) || (typeof error === 'string' && error !== '')) return errorFailure(error);
  if (value['object'] === 'error' || value['type'] === 'error') return errorFailure(value);
  if (value['detail'] !== undefined && value['choices'] === undefined) {
    return errorFailure(value['detail']);
  }
  return undefined;
}

/** The failure of an event that is an error by its name, whatever its data is. */
export function errorEventFailure(data: string): UpstreamFailure {
  const value = parseJson(data);
  return (isObject(value) && readErrorRecord(value)) || errorFailure(value ?? data);
}

function errorFailure(error: unknown): UpstreamFailure {
  return {
    class: classifyError(error),
    detail: 'the upstream reported an error in place of an answer',
  };
}

function classifyError(error: unknown): FailureClass {
  const words = errorWords(error).slice(0, ERROR_LENGTH_MAX);
  if (CONTEXT_WORDS.test(words)) return 'context_length';
  const code = toObject(error)['code'];
  if (code === 429 || code === 503 || code === 529) return 'overloaded';
  return OVERLOAD_WORDS.test(words) ? 'overloaded' : 'server_error';
}

function errorWords(error: unknown): string {
  if (typeof error === 'string') return error;
  const { code, type, message } = toObject(error);
  return [code, type, message].filter((word) => typeof word === 'string').join('\n');
}
