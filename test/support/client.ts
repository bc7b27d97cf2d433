// Sends requests to a gateway as clients of the formats do, over a real socket. Returns answers
// unparsed, for the test to judge, after a check against the description of the API.

import { held } from './description.ts';
import { collectEvents, type SseEvent } from './sse.ts';

export type Caller = { readonly url: string; readonly key: string };

export type JsonAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly json: Record<string, unknown>;
};

export type StreamAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly events: readonly SseEvent[];
};

export const PATHS = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
} as const;

export type EveryFormat = keyof typeof PATHS;

/** The formats whose bodies have messages, and stop sequences. */
export type Format = Exclude<EveryFormat, 'responses'>;

export const FORMATS: readonly Format[] = ['chat', 'messages'];
export const EVERY_FORMAT: readonly EveryFormat[] = [...FORMATS, 'responses'];

/**
 * A minimal request body of any format. `more` adds to it or replaces parts of it; Responses, which
 * shows thinking only to those that ask, has other names for messages and their bound.
 */
export function requestBody(
  format: EveryFormat,
  model: string,
  more: Readonly<Record<string, unknown>> = {},
): Record<string, unknown> {
  if (format === 'responses') {
    const { messages: input = 'Hello?', max_tokens: bound, ...rest } = more;
    const limited = bound === undefined ? {} : { max_output_tokens: bound };
    return { model, input, reasoning: { summary: 'auto' }, ...limited, ...rest };
  }
  const messages = [{ role: 'user', content: 'Hello?' }];
  const base = format === 'chat' ? { model, messages } : { model, max_tokens: 100, messages };
  return { ...base, ...more };
}

/** What asks a model not to think. */
export const WITHOUT_THINKING: Readonly<Record<EveryFormat, Record<string, unknown>>> = {
  chat: { reasoning_effort: 'none' },
  messages: { thinking: { type: 'disabled' } },
  responses: { reasoning: { effort: 'none' } },
};

/** A message of about so many tokens, where a report of that many has to be plausible. */
export function promptOf(tokens: number | bigint): Record<string, unknown> {
  return { messages: [{ role: 'user', content: `Hello?${' word'.repeat(Number(tokens))}` }] };
}

/** Posts a JSON body (a string is sent as it is) and returns the response unread. */
export async function post(
  caller: Caller,
  path: string,
  body: unknown,
  init: { readonly headers?: Record<string, string>; readonly signal?: AbortSignal } = {},
): Promise<Response> {
  const response = await fetch(`${caller.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${caller.key}`,
      'content-type': 'application/json',
      ...init.headers,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(init.signal === undefined ? {} : { signal: init.signal }),
  });
  return held(response, 'POST');
}

/** Gets a path with the caller's key. */
export async function get(caller: Caller, path: string): Promise<JsonAnswer> {
  const headers = { authorization: `Bearer ${caller.key}` };
  return readJson(held(await fetch(`${caller.url}${path}`, { headers }), 'GET'));
}

/** A whole answer of any format. */
export async function generate(
  caller: Caller,
  format: EveryFormat,
  model: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<JsonAnswer> {
  return readJson(await post(caller, PATHS[format], requestBody(format, model, more)));
}

/** A streamed answer of any format, read to its end. An error answer has no events. */
export async function generateStream(
  caller: Caller,
  format: EveryFormat,
  model: string,
  more: Readonly<Record<string, unknown>> = {},
): Promise<StreamAnswer> {
  const response = await openStream(caller, format, model, more);
  const streamed = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const events = streamed ? await collectEvents(response) : [];
  return { status: response.status, headers: response.headers, events };
}

/** A response without a reference is collected, and its connection closed with it. */
const opened: Response[] = [];

/** A streamed answer that the test reads, or leaves, by itself. */
export async function openStream(
  caller: Caller,
  format: EveryFormat,
  model: string,
  more: Readonly<Record<string, unknown>> = {},
  signal?: AbortSignal,
): Promise<Response> {
  const body = requestBody(format, model, { stream: true, ...more });
  const response = await post(caller, PATHS[format], body, signal === undefined ? {} : { signal });
  opened.push(response);
  return response;
}

async function readJson(response: Response): Promise<JsonAnswer> {
  const { status, headers } = response;
  return { status, headers, json: (await response.json()) as Record<string, unknown> };
}
