// Requests and answers of the chat completions format.

import { expect } from 'bun:test';
import { REASONING } from '../behaviours.ts';
import { BILL, type Fields, type Part, type Said, type Shape, streamedBill } from './shape.ts';

const ID = expect.stringMatching(/^chatcmpl-\w{24}$/);
const ARGUMENTS = '{"10":1,"2":12345678901234567890}';

export const chatShape: Shape = {
  everything: (model) =>
    JSON.stringify({
      model,
      messages: [
        { role: 'developer', content: [{ type: 'text', text: 'Be brief.' }] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
            { type: 'image_url', image_url: { url: 'https://images.example/a.png' } },
          ],
        },
        {
          role: 'assistant',
          content: 'Let me look.',
          reasoning_content: REASONING,
          tool_calls: [
            {
              id: 'call_1',
              type: 'function',
              function: { name: 'get_weather', arguments: ARGUMENTS },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
      ],
      tools: [
        {
          type: 'function',
          function: {
            name: 'get_weather',
            description: 'Weather.',
            parameters: { type: 'object', properties: {} },
          },
        },
      ],
      tool_choice: { type: 'function', function: { name: 'get_weather' } },
      ...{ max_tokens: 7, max_completion_tokens: 8, temperature: 0.5, top_p: 1, stop: ['a', 'b'] },
      ...{ frequency_penalty: -2, presence_penalty: 2, reasoning_effort: 'xhigh', n: 1 },
    }),
  askedBesides: { frequency_penalty: -2, presence_penalty: 2 },
  ignored: {
    ...{ metadata: { a: 'b' }, store: true, seed: 7, logprobs: true, top_logprobs: 3 },
    ...{ service_tier: 'auto', logit_bias: { 1: 2 }, no_such_field: [1], user: 'me', n: 1 },
    ...{ response_format: { type: 'text' }, stream_options: { include_usage: false } },
    ...{ temperature: null, stop: null, tools: null, max_completion_tokens: null },
  },
  endUser: { user: 'u'.repeat(256) },
  required: ['model', 'messages'],
  refusal: (error) => ({ error }),
  whole: (model, said) => ({
    id: ID,
    object: 'chat.completion',
    created: expect.any(Number),
    model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', refusal: null, ...messageOf(said) },
        logprobs: null,
        finish_reason: said.finish,
      },
    ],
    usage: usageOf(said),
    system_fingerprint: 'fp_tollgate',
  }),
  stream: (model, said, { fallback = false } = {}) => {
    const envelope = {
      id: ID,
      object: 'chat.completion.chunk',
      created: expect.any(Number),
      model,
    };
    const chunk = (delta: Fields, finish: string | null = null) => ({
      ...envelope,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      system_fingerprint: 'fp_tollgate',
    });
    return [
      chunk({ role: 'assistant', content: '' }),
      ...deltasOf(said).map((delta) => chunk(delta)),
      chunk({}, said.finish),
      { ...envelope, choices: [], usage: usageOf(said), ...streamedBill(fallback) },
      '[DONE]',
    ];
  },
  failure: (data) => Object(data.at(-2)).error,
  opening: { answer: 1, text: 1 },
  isBeat: (data) => {
    const [choice] = (data as { choices?: Fields[] }).choices ?? [];
    return choice?.['finish_reason'] === null && Bun.deepEquals(choice['delta'], {});
  },
};

function usageOf({ reasoningTokens = 0 }: Said): Fields {
  return {
    prompt_tokens: 10,
    completion_tokens: 5,
    total_tokens: 15,
    prompt_tokens_details: { cached_tokens: 4 },
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
    prompt_cache_hit_tokens: 4,
    prompt_cache_miss_tokens: 6,
    ...BILL,
  };
}

function messageOf({ parts }: Said): Fields {
  const said = (kind: Part['kind']) =>
    parts.flatMap((part) => (part.kind === kind ? part.pieces : [])).join('');
  const reasoning = said('reasoning');
  const calls = parts.flatMap((part) =>
    part.kind === 'call'
      ? {
          id: part.id,
          type: 'function',
          function: { name: part.name, arguments: part.pieces.join('') },
        }
      : [],
  );
  return {
    content: said('text') === '' && calls.length > 0 ? null : said('text'),
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

function deltasOf({ parts }: Said): Fields[] {
  const calls = parts.filter(({ kind }) => kind === 'call');
  return parts.flatMap((part): Fields[] => {
    if (part.kind === 'text') return part.pieces.map((content) => ({ content }));
    if (part.kind === 'reasoning') {
      return part.pieces.map((piece) => ({ reasoning_content: piece }));
    }
    const { id, name, pieces } = part;
    const call = (more: Fields) => ({ tool_calls: [{ index: calls.indexOf(part), ...more }] });
    return [
      call({ id, type: 'function', function: { name, arguments: '' } }),
      ...pieces.map((piece) => call({ function: { arguments: piece } })),
    ];
  });
}
