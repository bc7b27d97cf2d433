// The requests of the canary test: a canary in every field of a body and every header, in both
// formats, and every kind of refused request.

import { type Format, PATHS } from '../../support/client.ts';
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
  format: Format,
  model: string,
  stream: boolean,
  more: Json = {},
): Sent {
  const body = format === 'chat' ? chatBody(canaries) : messagesBody(canaries);
  return {
    method: 'POST',
    path: `${PATHS[format]}?beta=${canaries.query}`,
    headers: headersOf(canaries),
    body: JSON.stringify({ ...body, model, stream, max_tokens: 100, ...more }),
  };
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

function schemaOf({ toolSchema }: Canaries): Json {
  return { type: 'object', properties: { city: { type: 'string', description: toolSchema } } };
}

/** Requests that no upstream ever hears of, for each format. */
export function refusals(canaries: Canaries, format: Format): Sent[] {
  const path = PATHS[format];
  const headers = headersOf(canaries);
  const { wrongValue, brokenBody, unknownModel, prompt } = canaries;
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
    wrong({ tools: [{ type: 'function', function: { name: `${wrongValue} ${prompt}` } }] }),
    wrong({ tools: wrongValue }),
    wrong({ tool_choice: wrongValue }),
    wrong({ stop: { [wrongValue]: wrongValue }, stop_sequences: { [wrongValue]: wrongValue } }),
    wrong({ reasoning_effort: wrongValue, thinking: { type: [wrongValue] } }),
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
      path: '/v1/messages/count_tokens',
      headers,
      body: JSON.stringify({ ...messagesBody(canaries), model: unknownModel }),
    },
  ];
}
