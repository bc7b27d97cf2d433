// The requests of the canary test: a canary in every field of a body and every header, in every
// format, and every kind of refused request.

import { type EveryFormat, PATHS, requestBody } from '../../support/client.ts';
import type { Canaries } from './canaries.ts';

type Json = Readonly<Record<string, unknown>>;

export type Sent = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** The start of a PNG in base64; a canary behind it is base64, too. */
const PNG = 'iVBORw0KGgoA';

export function generation(
  canaries: Canaries,
  format: EveryFormat,
  model: string,
  stream: boolean,
  more: Json = {},
): Sent {
  const body = { ...bodyOf(canaries, format), stream, max_tokens: 100, ...more };
  return {
    method: 'POST',
    path: `${PATHS[format]}?beta=${canaries.query}`,
    headers: headersOf(canaries),
    body: JSON.stringify(requestBody(format, model, body)),
  };
}

function bodyOf(canaries: Canaries, format: EveryFormat): Json {
  return { chat: chatBody, messages: messagesBody, responses: responsesBody }[format](canaries);
}

function headersOf({ header, userAgent, cookie }: Canaries): Readonly<Record<string, string>> {
  return {
    'content-type': 'application/json',
    'user-agent': userAgent,
    cookie: `session=${cookie}`,
    'x-request-id': header,
    'x-custom': header,
    'anthropic-version': header,
    'x-forwarded-for': header,
  };
}

function common({ unknownName, unknownField, stopSequence }: Canaries): Json {
  return {
    [unknownName]: unknownField,
    stop: [stopSequence],
    stop_sequences: [stopSequence],
    temperature: 0.5,
  };
}

function chatBody(c: Canaries): Json {
  const call = { name: c.toolName, arguments: JSON.stringify({ city: c.toolArguments }) };
  return {
    ...common(c),
    user: c.endUser,
    messages: [
      { role: 'system', content: c.system },
      {
        role: 'user',
        content: [
          { type: 'text', text: c.prompt },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}${c.image}` } },
          { type: 'image_url', image_url: { url: `https://example.com/${c.imageUrl}.png` } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        reasoning_content: c.earlierReasoning,
        tool_calls: [{ id: 'call_0', type: 'function', function: call }],
      },
      { role: 'tool', tool_call_id: 'call_0', content: c.toolResult },
    ],
    tools: [
      {
        type: 'function',
        function: { name: c.toolName, description: c.toolText, parameters: schemaOf(c) },
      },
    ],
  };
}

function messagesBody(c: Canaries): Json {
  return {
    ...common(c),
    metadata: { user_id: c.endUser },
    system: [{ type: 'text', text: c.system, cache_control: { type: 'ephemeral' } }],
    thinking: { type: 'enabled', budget_tokens: 50 },
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: c.prompt },
          {
            type: 'image',
            source: { type: 'base64', media_type: 'image/png', data: `${PNG}${c.image}` },
          },
          { type: 'image', source: { type: 'url', url: `https://example.com/${c.imageUrl}.png` } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: c.earlierReasoning, signature: c.earlierReasoning },
          { type: 'tool_use', id: 'call_0', name: c.toolName, input: { city: c.toolArguments } },
        ],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'call_0', content: c.toolResult }],
      },
    ],
    tools: [{ name: c.toolName, description: c.toolText, input_schema: schemaOf(c) }],
  };
}

/** Its `messages` are sent as `input`. */
function responsesBody(c: Canaries): Json {
  return {
    ...common(c),
    user: c.endUser,
    instructions: c.system,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: c.prompt },
          { type: 'input_image', image_url: `data:image/png;base64,${PNG}${c.image}` },
          { type: 'input_image', image_url: `https://example.com/${c.imageUrl}.png` },
        ],
      },
      {
        type: 'reasoning',
        id: 'rs_0',
        summary: [{ type: 'summary_text', text: c.earlierReasoning }],
        encrypted_content: c.unknownField,
      },
      {
        type: 'function_call',
        call_id: 'call_0',
        name: c.toolName,
        arguments: JSON.stringify({ city: c.toolArguments }),
      },
      { type: 'function_call_output', call_id: 'call_0', output: c.toolResult },
    ],
    tools: [
      { type: 'function', name: c.toolName, description: c.toolText, parameters: schemaOf(c) },
    ],
  };
}

function schemaOf({ toolSchema }: Canaries): Json {
  return { type: 'object', properties: { city: { type: 'string', description: toolSchema } } };
}

/** Requests that no upstream ever hears of, for each format. */
export function refusals(canaries: Canaries, format: EveryFormat): Sent[] {
  const path = PATHS[format];
  const headers = headersOf(canaries);
  const { wrongValue, brokenBody, unknownModel, prompt } = canaries;
  const named = { name: `${wrongValue} ${prompt}` };
  const odd = { [wrongValue]: wrongValue };
  const wrong = (more: Json): Sent => generation(canaries, format, 'ok', false, more);
  const raw = (body: string, more: Readonly<Record<string, string>> = {}): Sent => ({
    method: 'POST',
    path,
    headers: { ...headers, ...more },
    body,
  });
  return [
    wrong({ model: unknownModel }),
    wrong({ model: { name: wrongValue } }),
    wrong({ max_tokens: wrongValue }),
    wrong({ temperature: wrongValue }),
    wrong({ stream: wrongValue }),
    wrong({ messages: wrongValue }),
    wrong({ messages: [{ role: wrongValue, content: prompt }] }),
    wrong({ messages: [{ role: 'user', content: [{ type: wrongValue, [wrongValue]: prompt }] }] }),
    wrong({ tools: [{ type: 'function', ...named, function: named }] }),
    wrong({ tools: wrongValue }),
    wrong({ tool_choice: wrongValue }),
    // Responses has no stop sequences.
    ...(format === 'responses' ? [] : [wrong({ stop: odd, stop_sequences: odd })]),
    wrong({
      ...{ reasoning_effort: wrongValue, thinking: { type: [wrongValue] } },
      reasoning: { effort: wrongValue },
    }),
    wrong({ user: wrongValue.repeat(20), metadata: { user_id: [wrongValue] } }),
    wrong({ max_tokens: 100_000_000 }),
    wrong({ messages: [{ role: 'user', content: `${prompt} `.repeat(30_000) }] }),
    raw(`{"model":"${brokenBody}"`),
    raw(brokenBody),
    raw(`${'['.repeat(5_000)}"${brokenBody}"`),
    raw(`{"model":"${brokenBody.repeat(70_000)}"}`),
    raw(brokenBody, { 'content-type': `text/${wrongValue}` }),
    raw(brokenBody, { 'content-encoding': wrongValue }),
    { method: 'GET', path: `/v1/models/${canaries.path}`, headers },
    { method: 'POST', path: `/v1/${canaries.path}`, headers, body: brokenBody },
    { method: 'DELETE', path, headers },
    { method: 'POST', path: '/v1/api-keys', headers, body: JSON.stringify({ name: wrongValue }) },
    {
      method: 'POST',
      path: format === 'responses' ? '/v1/responses/input_tokens' : '/v1/messages/count_tokens',
      headers,
      body: JSON.stringify(
        format === 'responses'
          ? requestBody(format, unknownModel, responsesBody(canaries))
          : { ...messagesBody(canaries), model: unknownModel },
      ),
    },
  ];
}
