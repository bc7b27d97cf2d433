// Requests and answers of the Responses format.

import { expect } from 'bun:test';
import { REASONING } from '../behaviours.ts';
import { BILL, type Fields, type Part, type Said, type Shape, streamedBill } from './shape.ts';

const ARGUMENTS = '{"10":1,"2":12345678901234567890}';
const ENCRYPTED = 'tg1.dG9sbGdhdGU=';

export const responsesShape: Shape = {
  everything: (model) =>
    JSON.stringify({
      model,
      instructions: '',
      input: [
        { role: 'developer', content: [{ type: 'input_text', text: 'Be brief.' }] },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'What is it?' },
            { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' },
            { type: 'input_image', image_url: 'https://images.example/a.png', detail: 'auto' },
          ],
        },
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [{ type: 'summary_text', text: REASONING }],
          content: null,
          encrypted_content: 'another service',
        },
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Let me look.' }],
        },
        { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: ARGUMENTS },
        { type: 'web_search_call', id: 'ws_1', status: 'completed' },
        { type: 'function_call_output', call_id: 'call_1', output: 'sunny' },
      ],
      tools: [
        { type: 'web_search' },
        {
          type: 'function',
          name: 'get_weather',
          description: 'Weather.',
          parameters: { type: 'object', properties: {} },
          strict: true,
        },
      ],
      tool_choice: { type: 'function', name: 'get_weather' },
      reasoning: { effort: 'xhigh', summary: 'auto' },
      ...{ max_output_tokens: 8, temperature: 0.5, top_p: 1, background: false },
    }),
  askedBesides: { stop: undefined },
  ignored: {
    ...{ metadata: { a: 'b' }, store: true, include: ['reasoning.encrypted_content'], user: 'me' },
    ...{ service_tier: 'auto', truncation: 'auto', client_metadata: {}, no_such_field: [1] },
    ...{ text: { format: { type: 'text' } }, stream_options: { include_obfuscation: false } },
    ...{ previous_response_id: null, conversation: null, prompt: null, background: null },
    ...{ temperature: null, tools: null, reasoning: { summary: 'auto', context: 'all_turns' } },
  },
  endUser: { user: 'u'.repeat(256) },
  required: ['model', 'input'],
  refusal: (error) => ({ error }),
  whole: (model, said, sent) => ({
    ...response(model, said),
    ...repeatedOf(sent),
    usage: { ...usageOf(said), ...BILL },
  }),
  stream: (model, said, { fallback = false } = {}) => {
    const begun = response(model, { parts: [], finish: 'stop' });
    const opening = { ...begun, status: 'in_progress' };
    const bill = { usage: { ...usageOf(said), ...streamedBill(fallback) } };
    const whole = { ...response(model, said), ...repeatedOf(), ...bill };
    const all = said.parts.flatMap((part, index) => began(part, index, said));
    const ended = said.parts.flatMap((part, index) =>
      part.kind === 'call' ? over(part, index, said) : [],
    );
    const last = said.parts.at(-1);
    const close =
      last !== undefined && last.kind !== 'call' ? over(last, said.parts.length - 1, said) : [];
    const events: Fields[] = [
      { type: 'response.created', response: opening },
      { type: 'response.in_progress', response: opening },
      ...all,
      ...ended,
      ...close,
      { type: `response.${whole.status}`, response: whole },
    ];
    return events.map((event) => ({ ...event, sequence_number: expect.any(Number) }));
  },
  failure: (data) => Object(data.at(-2)).response.error,
  opening: { answer: 2, text: 4 },
  isBeat: (data) => {
    const { type, sequence_number: number, delta } = data as Fields;
    return delta === '' || (type === 'response.in_progress' && number !== 1);
  },
};

function response(model: string, said: Said) {
  const reasons: Readonly<Record<string, string>> = {
    length: 'max_output_tokens',
    content_filter: 'content_filter',
  };
  const reason = reasons[said.finish];
  return {
    id: expect.stringMatching(/^resp_\w{24}$/),
    object: 'response',
    access_programs: null,
    created_at: expect.any(Number),
    status: reason === undefined ? 'completed' : 'incomplete',
    background: false,
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    instructions: null,
    metadata: {},
    model,
    output: said.parts.map((part, index) => itemOf(part, index, said)),
    parallel_tool_calls: true,
    previous_response_id: null,
    store: false,
    temperature: null,
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    truncation: 'disabled',
  };
}

/** What the end of an answer repeats of the members that a request was sent with. */
function repeatedOf(sent: Fields = {}) {
  const { max_tokens: bound, metadata = {}, reasoning = { summary: 'auto' } } = sent;
  const limited = bound === undefined ? {} : { max_output_tokens: bound };
  return { ...limited, metadata, reasoning, text: { format: { type: 'text' } } };
}

function usageOf({ reasoningTokens = 0 }: Said): Fields {
  return {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: 15,
  };
}

const wholeOf = ({ pieces }: Part): string => pieces.join('');

function idOf(part: Part, index: number): unknown {
  const prefix = { reasoning: 'rs', text: 'msg', call: 'fc' }[part.kind];
  return expect.stringMatching(new RegExp(`^${prefix}_\\w{24}${index}$`));
}

/** Of an answer that was cut, the last item is incomplete. */
function itemOf(part: Part, index: number, said: Said | undefined): Fields {
  const id = idOf(part, index);
  const text = said === undefined ? '' : wholeOf(part);
  const isCut = said?.finish === 'length' || said?.finish === 'content_filter';
  const isLast = index === (said?.parts.length ?? 0) - 1;
  const status = said === undefined ? 'in_progress' : isCut && isLast ? 'incomplete' : 'completed';
  switch (part.kind) {
    case 'reasoning':
      return {
        id,
        type: 'reasoning',
        summary: text === '' ? [] : [{ type: 'summary_text', text }],
        encrypted_content: ENCRYPTED,
      };
    case 'text':
      return {
        id,
        type: 'message',
        role: 'assistant',
        status,
        content: text === '' ? [] : [outputText(text)],
      };
    case 'call':
      return {
        id,
        type: 'function_call',
        status,
        call_id: part.id,
        name: part.name,
        arguments: text,
      };
  }
}

function outputText(text: string): Fields {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

/** The events of one item; those of its end come once another kind begins. */
function began(part: Part, index: number, said: Said): Fields[] {
  const at = { item_id: idOf(part, index), output_index: index };
  const added = {
    type: 'response.output_item.added',
    output_index: index,
    item: itemOf(part, index, undefined),
  };
  const isFollowed = index < said.parts.length - 1;
  const end = part.kind !== 'call' && isFollowed ? over(part, index, said) : [];
  const deltas = (type: string, more: Fields = {}): Fields[] =>
    part.pieces.map((delta) => ({ type, ...at, ...more, delta }));
  switch (part.kind) {
    case 'reasoning':
      return [
        added,
        {
          type: 'response.reasoning_summary_part.added',
          ...at,
          summary_index: 0,
          part: { type: 'summary_text', text: '' },
        },
        ...deltas('response.reasoning_summary_text.delta', { summary_index: 0 }),
        ...end,
      ];
    case 'text':
      return [
        added,
        { type: 'response.content_part.added', ...at, content_index: 0, part: outputText('') },
        ...deltas('response.output_text.delta', { content_index: 0, logprobs: [] }),
        ...end,
      ];
    case 'call':
      return [added, ...deltas('response.function_call_arguments.delta')];
  }
}

function over(part: Part, index: number, said: Said): Fields[] {
  const at = { item_id: idOf(part, index), output_index: index };
  const text = wholeOf(part);
  const done = {
    type: 'response.output_item.done',
    output_index: index,
    item: itemOf(part, index, said),
  };
  switch (part.kind) {
    case 'reasoning':
      return [
        { type: 'response.reasoning_summary_text.done', ...at, summary_index: 0, text },
        {
          type: 'response.reasoning_summary_part.done',
          ...at,
          summary_index: 0,
          part: { type: 'summary_text', text },
        },
        done,
      ];
    case 'text':
      return [
        { type: 'response.output_text.done', ...at, content_index: 0, text, logprobs: [] },
        { type: 'response.content_part.done', ...at, content_index: 0, part: outputText(text) },
        done,
      ];
    case 'call':
      return [
        {
          type: 'response.function_call_arguments.done',
          ...at,
          name: part.name,
          arguments: text,
        },
        done,
      ];
  }
}
