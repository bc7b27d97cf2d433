// Requests and answers of the Messages format.

import { expect } from 'bun:test';
import { REASONING } from '../behaviours.ts';
import { messageStart } from '../message-start.ts';
import { BILL, type Fields, type Part, type Said, type Shape, streamedBill } from './shape.ts';

const ID = expect.stringMatching(/^msg_\w{24}$/);
const SIGNATURE = expect.stringMatching(/./);
const CACHED = { cache_control: { type: 'ephemeral', ttl: '1h' } };

const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'end_turn',
};

const COUNTERS = {
  input_tokens: 6,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 4,
  output_tokens: 5,
};

/** A number that no value of JavaScript has, in the place of which its text is put. */
const BYTES = ['"input":"bytes"', '"input":{"10":1,"2":12345678901234567890}'] as const;

export const messagesShape: Shape = {
  everything: (model) =>
    JSON.stringify({
      model,
      system: [{ type: 'text', text: 'Be brief.', ...CACHED }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?', ...CACHED },
            {
              type: 'image',
              source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' },
            },
            { type: 'image', source: { type: 'url', url: 'https://images.example/a.png' } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: REASONING, signature: 'tg1.dG9sbGdhdGU=' },
            { type: 'text', text: 'Let me look.' },
            { type: 'tool_use', id: 'call_1', name: 'get_weather', input: 'bytes' },
          ],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'sunny' }],
        },
      ],
      tools: [
        {
          name: 'get_weather',
          description: 'Weather.',
          input_schema: { type: 'object', properties: {} },
          ...CACHED,
        },
      ],
      tool_choice: { type: 'tool', name: 'get_weather' },
      ...{ max_tokens: 8, temperature: 0.5, top_p: 1, top_k: 5, stop_sequences: ['a', 'b'] },
      ...{ thinking: { type: 'adaptive' }, output_config: { effort: 'medium' } },
    }).replace(...BYTES),
  askedBesides: {},
  ignored: {
    ...{ context_management: { edits: [] }, service_tier: 'auto', container: null, top_k: 5 },
    ...{ mcp_servers: [], no_such_field: [1], metadata: { user_id: 'me' }, ...CACHED },
    ...{ temperature: null, tools: null, system: null, thinking: null, output_config: null },
  },
  endUser: { metadata: { user_id: 'u'.repeat(300) } },
  required: ['model', 'messages', 'max_tokens'],
  refusal: (error) => ({ type: 'error', error }),
  whole: (model, said) => ({
    id: ID,
    type: 'message',
    role: 'assistant',
    model,
    content: said.parts.map(blockOf),
    ...endOf(said),
    usage: { ...COUNTERS, ...BILL },
  }),
  stream: (model, said, { fallback = false } = {}) => [
    messageStart(ID, model),
    ...said.parts.flatMap(eventsOf),
    {
      type: 'message_delta',
      delta: endOf(said),
      usage: { ...COUNTERS, ...streamedBill(fallback) },
    },
    { type: 'message_stop' },
  ],
  failure: (data) => Object(data.at(-1)).error,
  opening: { answer: 1, text: 2 },
  isBeat: (data) => Bun.deepEquals(data, { type: 'ping' }),
};

function endOf({ finish }: Said): Fields {
  const refused = { type: 'refusal', category: null, explanation: null };
  return {
    stop_reason: STOP_REASONS[finish],
    stop_sequence: null,
    ...(finish === 'content_filter' ? { stop_details: refused } : {}),
  };
}

function blockOf(part: Part): Fields {
  const text = part.pieces.join('');
  if (part.kind === 'text') return { type: 'text', text };
  if (part.kind === 'reasoning') {
    return { type: 'thinking', thinking: text, signature: SIGNATURE };
  }
  return { type: 'tool_use', id: part.id, name: part.name, input: JSON.parse(text) };
}

function eventsOf(part: Part, index: number): Fields[] {
  const delta = (more: Fields) => ({ type: 'content_block_delta', index, delta: more });
  return [
    { type: 'content_block_start', index, content_block: emptyBlockOf(part) },
    ...part.pieces.map((piece) => delta(growth(part, piece))),
    ...(part.kind === 'reasoning'
      ? [delta({ type: 'signature_delta', signature: SIGNATURE })]
      : []),
    { type: 'content_block_stop', index },
  ];
}

function emptyBlockOf(part: Part): Fields {
  if (part.kind === 'text') return { type: 'text', text: '' };
  if (part.kind === 'reasoning') return { type: 'thinking', thinking: '', signature: '' };
  return { type: 'tool_use', id: part.id, name: part.name, input: {} };
}

function growth({ kind }: Part, piece: string): Fields {
  if (kind === 'text') return { type: 'text_delta', text: piece };
  if (kind === 'reasoning') return { type: 'thinking_delta', thinking: piece };
  return { type: 'input_json_delta', partial_json: piece };
}
