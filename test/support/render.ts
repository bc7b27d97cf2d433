// Renders a model's answer in each upstream dialect: one JSON body or the frames of an event
// stream. The scripted upstream's behaviours are built from these.

import { responseFrames, wholeResponse } from './render-responses.ts';

export type Piece =
  | { readonly reasoning: string }
  | { readonly text: string }
  /** The first fragment of a call has its id and name; later ones have arguments alone. */
  | { readonly tool: number; readonly id?: string; readonly name?: string; readonly json: string };

export type Finish =
  | 'stop'
  | 'length'
  | 'tool_calls'
  | 'content_filter'
  | 'insufficient_system_resource';

/** Counts as the upstream reports them; `prompt` includes `cached` and `written`. */
export type ReportedUsage = {
  readonly prompt: number;
  readonly cached: number;
  /** Into the cache; the chat dialect does not report it. */
  readonly written?: number;
  readonly completion: number;
  readonly reasoning?: number;
};

export type Script = {
  readonly pieces: readonly Piece[];
  readonly finish: Finish;
  /** Absent: the upstream reports none. */
  readonly usage?: ReportedUsage;
};

export const USAGE: ReportedUsage = { prompt: 10, cached: 4, completion: 5 };

export type WireDialect = 'chat' | 'messages' | 'responses';

/** The body of a whole answer. */
export function wholeBody(dialect: WireDialect, model: string, script: Script): string {
  return JSON.stringify(WHOLE[dialect](model, script));
}

/** The frames of a streamed answer, each with its blank line; the end marker is the last. */
export function streamFrames(dialect: WireDialect, model: string, script: Script): string[] {
  return FRAMES[dialect](model, script);
}

const WHOLE = { chat: chatCompletion, messages: message, responses: wholeResponse } as const;
const FRAMES = { chat: chatFrames, messages: messageFrames, responses: responseFrames } as const;

/** One `data:` frame of the chat dialect. */
export function chatFrame(
  model: string,
  delta: unknown,
  finish: Finish | null = null,
  more: Readonly<Record<string, unknown>> = {},
): string {
  return data({
    ...envelope(model),
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    ...more,
  });
}

/** What a chat upstream reports as usage. */
export function chatUsage(usage: ReportedUsage): Record<string, unknown> {
  return {
    prompt_tokens: usage.prompt,
    completion_tokens: usage.completion,
    total_tokens: usage.prompt + usage.completion,
    prompt_tokens_details: { cached_tokens: usage.cached },
    completion_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
    prompt_cache_hit_tokens: usage.cached,
    prompt_cache_miss_tokens: usage.prompt - usage.cached,
  };
}

function envelope(model: string): Record<string, unknown> {
  return {
    id: 'chatcmpl-scripted',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model,
    system_fingerprint: 'fp_scripted',
  };
}

function data(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function chatFrames(model: string, script: Script): string[] {
  const frames = [chatFrame(model, { role: 'assistant', content: '' })];
  for (const piece of script.pieces) frames.push(chatFrame(model, chatDelta(piece)));
  frames.push(chatFrame(model, {}, script.finish));
  if (script.usage !== undefined) {
    frames.push(data({ ...envelope(model), choices: [], usage: chatUsage(script.usage) }));
  }
  frames.push('data: [DONE]\n\n');
  return frames;
}

function chatDelta(piece: Piece): unknown {
  if ('text' in piece) return { content: piece.text };
  if ('reasoning' in piece) return { reasoning_content: piece.reasoning };
  const { tool, id, name, json } = piece;
  if (id === undefined) return { tool_calls: [{ index: tool, function: { arguments: json } }] };
  return {
    tool_calls: [{ index: tool, id, type: 'function', function: { name, arguments: json } }],
  };
}

type ToolCall = { readonly id: string; readonly name: string; readonly json: string };

function join(script: Script): { text: string; reasoning: string; tools: ToolCall[] } {
  let text = '';
  let reasoning = '';
  const tools: ToolCall[] = [];
  for (const piece of script.pieces) {
    if ('text' in piece) text += piece.text;
    else if ('reasoning' in piece) reasoning += piece.reasoning;
    else {
      const call = tools[piece.tool] ?? { id: '', name: '', json: '' };
      tools[piece.tool] = {
        id: piece.id ?? call.id,
        name: piece.name ?? call.name,
        json: call.json + piece.json,
      };
    }
  }
  return { text, reasoning, tools };
}

function chatCompletion(model: string, script: Script): unknown {
  const { text, reasoning, tools } = join(script);
  const answer: Record<string, unknown> = {
    role: 'assistant',
    content: text === '' && tools.length > 0 ? null : text,
  };
  if (reasoning !== '') answer['reasoning_content'] = reasoning;
  if (tools.length > 0) {
    answer['tool_calls'] = tools.map(({ id, name, json }) => ({
      id,
      type: 'function',
      function: { name, arguments: json },
    }));
  }
  return {
    ...envelope(model),
    object: 'chat.completion',
    choices: [{ index: 0, message: answer, logprobs: null, finish_reason: script.finish }],
    ...(script.usage === undefined ? {} : { usage: chatUsage(script.usage) }),
  };
}

/** What the upstream of the messages dialect signs its thinking with. */
export const SIGNATURE = 'c2lnbmVkIGJ5IHRoZSBzY3JpcHQ=';

const STOP_REASONS: Readonly<Record<Finish, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
  insufficient_system_resource: 'end_turn',
};

function messageUsage(usage: ReportedUsage): Record<string, number> {
  return {
    input_tokens: usage.prompt - usage.cached - (usage.written ?? 0),
    cache_creation_input_tokens: usage.written ?? 0,
    cache_read_input_tokens: usage.cached,
    output_tokens: usage.completion,
  };
}

function message(model: string, script: Script): Record<string, unknown> {
  const { text, reasoning, tools } = join(script);
  const content: unknown[] = [];
  if (reasoning !== '') {
    content.push({ type: 'thinking', thinking: reasoning, signature: SIGNATURE });
  }
  if (text !== '') content.push({ type: 'text', text });
  for (const { id, name, json } of tools) {
    content.push({ type: 'tool_use', id, name, input: JSON.parse(json) });
  }
  return {
    id: 'msg_scripted',
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: STOP_REASONS[script.finish],
    stop_sequence: null,
    ...(script.usage === undefined ? {} : { usage: messageUsage(script.usage) }),
  };
}

function named(value: { readonly type: string; readonly [field: string]: unknown }): string {
  return `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
}

function messageFrames(model: string, script: Script): string[] {
  const start = { ...message(model, script), content: [], stop_reason: null };
  const frames = [
    named({
      type: 'message_start',
      message: {
        ...start,
        ...(script.usage && { usage: { ...messageUsage(script.usage), output_tokens: 1 } }),
      },
    }),
  ];
  let block = '';
  let index = -1;
  const stop = () => {
    if (block === 'thinking') {
      const delta = { type: 'signature_delta', signature: SIGNATURE };
      frames.push(named({ type: 'content_block_delta', index, delta }));
    }
    if (index >= 0) frames.push(named({ type: 'content_block_stop', index }));
  };
  for (const piece of script.pieces) {
    const [kind, opening, delta] = messageBlock(piece);
    if (kind !== block) {
      stop();
      index += 1;
      block = kind;
      frames.push(named({ type: 'content_block_start', index, content_block: opening }));
    }
    frames.push(named({ type: 'content_block_delta', index, delta }));
  }
  stop();
  frames.push(
    named({
      type: 'message_delta',
      delta: { stop_reason: STOP_REASONS[script.finish], stop_sequence: null },
      ...(script.usage === undefined ? {} : { usage: messageUsage(script.usage) }),
    }),
    named({ type: 'message_stop' }),
  );
  return frames;
}

/** The kind of block a piece belongs to, the block's opening and the piece as a delta. */
function messageBlock(piece: Piece): [kind: string, opening: unknown, delta: unknown] {
  if ('text' in piece) {
    return ['text', { type: 'text', text: '' }, { type: 'text_delta', text: piece.text }];
  }
  if ('reasoning' in piece) {
    const opening = { type: 'thinking', thinking: '', signature: '' };
    return ['thinking', opening, { type: 'thinking_delta', thinking: piece.reasoning }];
  }
  return [
    `tool ${piece.tool}`,
    { type: 'tool_use', id: piece.id, name: piece.name, input: {} },
    { type: 'input_json_delta', partial_json: piece.json },
  ];
}
