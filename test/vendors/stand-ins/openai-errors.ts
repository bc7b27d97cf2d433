// What both endpoints of OpenAI share, and Azure with them.
//
// Envelope and codes: types of the openai package 7.59.0 and LiteLLM 1.110.2 (28 November 2026).
// No credit is a 429 with `insufficient_quota`. Names of tools have at most 64 characters on chat;
// Responses takes 128 by one report, so 64 is the strict reading. "object schema missing properties"
// is the answer to an object without them. A strict schema is closed.

import { type Envelope, refusalOf } from './script.ts';
import type { Json, Refusal } from './server.ts';

const QUOTA = 'You exceeded your current quota, please check your plan and billing details.';
const WINDOW = 'Your input exceeds the context window of this model. Please adjust your input.';

export const OPENAI_FAULTS: Readonly<Record<string, () => Refusal>> = {
  401: () => openai('Incorrect API key provided: sk-…', { status: 401, code: 'invalid_api_key' }),
  402: () => openai(QUOTA, { status: 429, type: 'insufficient_quota', code: 'insufficient_quota' }),
  429: () =>
    refusalOf(
      'Rate limit reached',
      { status: 429, type: 'requests', code: 'rate_limit_exceeded' },
      { 'retry-after': '2', 'retry-after-ms': '1500', 'x-ratelimit-remaining-requests': '0' },
    ),
  500: () => openai('The server had an error.', { status: 500, type: 'server_error' }),
  long: () => openai(WINDOW, { param: 'messages', code: 'context_length_exceeded' }),
};

/** A refusal of OpenAI. */
export function openai(message: string, envelope: Envelope = {}): Refusal {
  return refusalOf(message, envelope);
}

/** The answer to a path that does not exist. */
export function unknownUrl(path: string): Refusal {
  return openai(`Unknown request URL: POST ${path}.`, { status: 404, code: 'unknown_url' });
}

/** Models whose thinking cannot be turned off: reports of 17 and 18 November 2026. */
export function alwaysThinks(model: string): boolean {
  return /^gpt-6\.2|^gpt-6-astra|^gpt-6\.1-sol/.test(model);
}

export type FunctionTool = {
  readonly name?: string;
  readonly parameters?: Json | null;
  readonly strict?: boolean | null;
};

/** Checks the functions of a request. */
export function checkFunctions(functions: readonly FunctionTool[]): void {
  for (const [index, { name = '', parameters, strict }] of functions.entries()) {
    const at = `tools[${index}]`;
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) {
      const text = `Invalid '${at}.name': expected a string that matches '^[a-zA-Z0-9_-]+$'.`;
      throw openai(text, { param: `${at}.name`, code: 'invalid_value' });
    }
    const envelope = { param: `${at}.parameters`, code: 'invalid_function_parameters' };
    const schema = `Invalid schema for function '${name}': In context=(), `;
    if (parameters?.['type'] === 'object' && parameters['properties'] === undefined) {
      throw openai(`${schema}object schema missing properties.`, envelope);
    }
    if (strict === true && parameters?.['additionalProperties'] !== false) {
      throw openai(`${schema}'additionalProperties' is required to be false.`, envelope);
    }
  }
}
